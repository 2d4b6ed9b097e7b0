"""Several processes for one frontier."""
