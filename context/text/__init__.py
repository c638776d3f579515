"""One text: its words, terms and tokens, the secrets in it, and the fences around it."""
