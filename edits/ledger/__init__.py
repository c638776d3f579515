"""The project's ledger of hunks, and the undo that works from it."""
