"""Tests of what new text says."""
