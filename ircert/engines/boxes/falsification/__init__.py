"""Violations looked for in floats, and brought nearer to the centre in integers."""
