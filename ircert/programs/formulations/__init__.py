"""Formulations: how a question about a network becomes a program."""
