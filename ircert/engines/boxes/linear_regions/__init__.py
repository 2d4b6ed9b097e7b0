"""Linear regions exactly: their affine maps, polytopes of pairs, and the nearest pair."""
