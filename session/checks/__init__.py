"""Checks: commands the user agreed to, run in a sandbox, and what they found."""
