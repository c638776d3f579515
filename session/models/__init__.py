"""Who serves which model: the catalogue, what of it is chosen, and the servers on this machine."""
