"""Two networks, or two points of one, side by side: bounds on differences, relaxations, branch and bound."""
