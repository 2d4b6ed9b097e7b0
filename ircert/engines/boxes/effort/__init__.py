"""How counted effort is dealt out: among ways in turns, between boxes and trees, among processes."""
