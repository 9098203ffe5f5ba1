"""Candidate windows and the spatial relations between them (paper, section 2)."""
