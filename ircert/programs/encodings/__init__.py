"""From a graph and a question to a program: networks, balls and distances as rows."""
