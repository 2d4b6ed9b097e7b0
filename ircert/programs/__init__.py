"""The program level: optimisation problems as arrays, built in blocks, frozen and verified."""
