"""What an answer is made of: the bracket of the radius, its evidence, a witness, and how to show and store it."""
