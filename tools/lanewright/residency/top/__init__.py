"""A live table of how the map of experts does."""
