"""The Gaussian process on three spatial relations (paper, section 3)."""
