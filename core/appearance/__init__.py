"""What a window looks like: feature types read from per-image maps (paper, sec. 5)."""
