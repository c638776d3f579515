"""Commands for keys, models, servers and the state of the setup."""
