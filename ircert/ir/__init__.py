"""The graph IR: operations, graphs, their rules, their text and their evaluation."""
