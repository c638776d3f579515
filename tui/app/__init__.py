"""The full-screen app: panes on one session, and the keys that drive them."""
