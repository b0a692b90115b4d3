"""Own patches, read."""
