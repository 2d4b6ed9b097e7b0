"""What the form of a network alone proves: its input can be computed from its output, whatever the weights are."""
