"""Checks: commands the user agreed to, run in a sandbox or live, and what they found."""
