"""Right edits, damaged in pairs of ways as models damage them: nothing wrong lands."""
