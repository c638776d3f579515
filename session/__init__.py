"""The conversation and the wire: turns, the model's servers, the journal on disk."""
