"""Reviews of a change: what is sent to a model, and its findings, each checked before it is shown."""
