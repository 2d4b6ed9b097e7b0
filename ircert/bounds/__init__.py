"""Analyses of (graph, ball): intervals that surely hold every value a node takes on the ball."""
