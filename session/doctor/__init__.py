"""The checks of ``spark doctor``."""
