"""What a window looks like: feature types read from per-image maps (paper, section 5)."""
