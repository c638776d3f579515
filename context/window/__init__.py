"""The window: the pieces that the model is shown for one request."""
