"""Who serves which model: the catalogue and prices, keys, and the embedded engine."""
