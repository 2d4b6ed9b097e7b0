"""What a good ball rests on, in words: the evidence of a certified end."""

from __future__ import annotations

ONE_MATRIX = "one matrix C with sym(C J) positive definite on all its linear regions"
EVERYWHERE = "one matrix C with sym(C J) positive definite on all linear regions, by boxes that reach to infinity"
GIVEN_OUTPUTS = "the given outputs tell its points apart"
DEGREE = "one orientation inside and no collision on the boundary"
PAIRS = "all pairs of its boxes were excluded"
FEW_READ = "the few neurons that read the inputs follow from the outputs"
SECANTS = "no secant of two of its points has a kernel"
PHASES = "a tree of phases excludes all pairs"
ALL_SECANTS = "no secant has a kernel, whatever its slopes are"
ALL_SLOPES = "one matrix C with sym(C J) positive definite, whatever the slopes are"
