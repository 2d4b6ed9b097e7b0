"""What networks look like beyond one question: linear regions, slopes, observability."""
