"""Proofs about pairs of points by their phases: exact polytopes, determinants of secants, and a tree over both."""
