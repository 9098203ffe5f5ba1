"""From raw features to the few numbers the Gaussian process sees (paper, section 3)."""
