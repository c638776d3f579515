"""Races: several answers to one prompt at once, each judged by checks; the first that passes lands."""
