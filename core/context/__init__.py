"""Scoring a window in the context of all others (paper, section 4)."""
