"""A stand-in for our overlay, without torch: what it answers is what the real one answers."""
