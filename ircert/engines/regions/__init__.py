"""Exact geometry of the linear regions of networks with one or two inputs."""
