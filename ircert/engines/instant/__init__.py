"""Answers that need no search, each with its proof in exact arithmetic."""
