"""The form of networks alone."""
