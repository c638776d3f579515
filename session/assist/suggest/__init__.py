"""Suggestions while the user types: when one is asked for, what is sent, and what of an answer still fits."""
