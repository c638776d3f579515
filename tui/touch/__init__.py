"""Redirects by touch: editing a hunk that just landed stops the turn, and saving sends the change."""
