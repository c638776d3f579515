"""Refactors in place: selected lines rewritten as asked, hunk by hunk, and nothing outside of them."""
