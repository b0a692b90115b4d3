"""The patch queue: what a lane carries, applied without ever searching for context."""
