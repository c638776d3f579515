"""The dialogue in little room: a summary in place of older turns, with the user's own words kept whole.

``rules`` reads the lines of a summary out of the turns, ``summary`` holds them, ``writing`` fits them into
the room there is, and ``packing`` decides by exact token counts which turns stay whole and whether a
compaction pays. ``proposal`` judges what a model says of the dialogue, ``model_summary`` asks it. All but the
last are pure: values in, values out. A summary never holds code: files are shown as they are on disk.

Users, events and the instructions to the model call the summary a ledger.
"""
