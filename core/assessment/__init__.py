"""Judging boxes against true ones, with intervals (paper, section 5)."""
