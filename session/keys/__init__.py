"""Keys: where one comes from, how it is kept, and what keeps it out of sight."""
