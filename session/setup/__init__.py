"""Makes the parts of a session from flags and settings, chooses the model, and diagnoses both."""
