"""The choice of the model that answers a session, and the models that can be chosen."""
