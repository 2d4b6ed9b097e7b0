"""The experiments, one module each; `ircert.reproduction` knows them by name."""
