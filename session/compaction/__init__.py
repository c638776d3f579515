"""The dialogue in little room: a ledger in place of older turns, with the user's own words kept whole.

``rules`` reads the ledger's lines out of what was said, ``ledger`` holds and writes them, ``packing`` makes
them fit by exact counts, ``proposal`` judges what a model says of the dialogue. All of it is pure: values
in, values out. Code is never in a ledger: it is shown from disk as it is now.
"""
