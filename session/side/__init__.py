"""Side requests, which spark makes by itself beside the answers: whether one may go, and what all cost."""
