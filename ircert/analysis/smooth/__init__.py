"""Smooth networks of few inputs, by boxes: where the determinant vanishes, and all points with one value."""
