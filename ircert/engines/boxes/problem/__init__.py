"""A question as the proofs see it: its neurons in a row, boxes of points, and how a proof ends."""
