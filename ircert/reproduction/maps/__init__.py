"""Mathematics that several experiments are about: the Brusselator's Euler map, its preimages, curves and circles."""
