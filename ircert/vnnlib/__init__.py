"""VNN-LIB, the verifiers' common language: questions written in it, and queries of the same shapes answered."""
