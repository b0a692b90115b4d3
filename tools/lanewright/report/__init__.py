"""What became of each carried hunk, for people and for programs."""
