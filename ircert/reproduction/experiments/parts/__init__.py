"""Parts of experiments that are too long for one module."""
