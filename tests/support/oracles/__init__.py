"""Slow, obvious twins of the closed forms in core, one module per room."""
