"""Which files a project has, which of them changed, and noticing when they are saved."""
