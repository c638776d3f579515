"""Shortening the dialogue: a summary replaces older turns and keeps the user's own words whole.

``summary_by_rules`` finds the lines of a summary in the turns, ``summary`` holds them, and ``compact`` fits
them into the room there is and decides by exact token counts which turns stay whole and whether a compaction
pays. ``model_summary`` asks the model for a summary, and ``proposal`` checks its reply. All but
``model_summary`` are pure functions. A summary never holds code: files are shown as they are on disk.

Users, events and the instructions to the model call the summary a ledger.
"""
