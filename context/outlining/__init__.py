"""Outlines from a process of their own, since a grammar's query and a parser hold up all threads."""
