"""A session between processes: the claim on its journal, and the socket by which others follow it."""
