"""What may not come into a lane, unless it is allowed by name."""
