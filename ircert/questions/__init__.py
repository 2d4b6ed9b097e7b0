"""What is asked: a problem about a ball, cut with a domain."""
