"""Questions about parts of a network in the place of one about the whole."""
