"""Steps x + h g(x): for which h they are injective."""
