"""Findings of reviews on save: their signs in the gutter, the list, and what the user decides about each."""
