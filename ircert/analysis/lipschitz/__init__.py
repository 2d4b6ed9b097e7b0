"""How much a network stretches and shrinks distances on a ball."""
