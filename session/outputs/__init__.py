"""Whole outputs: what the session's commands and tools printed, kept while spark runs."""
