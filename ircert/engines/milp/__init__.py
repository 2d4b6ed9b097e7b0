"""The engine `milp`: programs of a formulation, solved by a backend."""
