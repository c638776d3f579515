"""Past sessions: going on from a turn of one (a fork), searching them, and writing them as documents."""
