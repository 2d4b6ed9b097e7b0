"""Norms, balls and boxes: where a question looks, without the question."""
