"""Signing in with a plan that the user pays for: accounts, their tokens, and the way through a browser."""
