"""Which proof is tried on which ball: the bracket of a radius, in turns of counted effort."""
