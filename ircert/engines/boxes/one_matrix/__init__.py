"""One matrix C with sym(C J) positive definite on every linear region of a ball: injectivity by points, not pairs."""
