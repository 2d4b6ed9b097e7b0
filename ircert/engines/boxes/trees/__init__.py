"""Trees over phases: relaxations, leaves, and parts of a ball."""
