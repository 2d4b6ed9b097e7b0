"""Witnesses: float pairs repaired into exact ones, and judged on the network itself."""
