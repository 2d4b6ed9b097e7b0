"""Bundled networks and schemas."""
