"""Many centres: a bracket of the largest good radius for each, from what they share (`spec/atlas.md`)."""
