"""Screens that lie over the panes: help, files, the context panel, offers."""
