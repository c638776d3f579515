"""A project in, a window out: what changed, what is there, and what of it the model is shown."""
