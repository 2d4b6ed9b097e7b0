"""Certificates of injectivity: made in floats, and checked by the checker before they are written."""
