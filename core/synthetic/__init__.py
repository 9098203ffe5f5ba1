"""Toy photographs with known boxes, for the demo and the tests."""
