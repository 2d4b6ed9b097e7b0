"""Linear regions of three inputs, in floats: polyhedra, the facets between them, and slices; for people to look at."""
