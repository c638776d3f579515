"""The partner's answers to reviews and refactors: what it finds, and how it rewrites lines."""
