"""Which parts of a lane make a command fail."""
