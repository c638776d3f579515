"""The dialogue in little room: a ledger in place of older turns, with the user's own words kept whole.

``rules`` reads the ledger's lines out of what was said, ``ledger`` holds them, ``writing`` puts them into
the room there is, and ``packing`` decides by exact counts what stays whole and whether it pays. ``proposal``
judges what a model says of the dialogue, ``asking`` asks it. All but the last is pure: values in, values
out. Code is never in a ledger: it is shown from disk as it is now.
"""
