"""How far two networks are apart on a ball, and whether they name the same class there."""
