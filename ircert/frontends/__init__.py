"""Doors into the IR: one module per kind of model, and `load`, which knows them all."""
