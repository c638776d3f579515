"""What turns take and cost: by turn, session and day."""
