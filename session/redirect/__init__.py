"""Redirects that wait for the hunk that is being typed."""
