"""p*: how far apart a ball's worst pair lies, from the paper's program and exact repairs."""
