"""Help beside the conversation: suggestions, next edits, reviews, refactors, surgery, and what they cost."""
