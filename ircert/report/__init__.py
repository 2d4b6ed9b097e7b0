"""Answers as one page to read, print and send: HTML that needs nothing else, in files and in notebooks."""
