"""Why hunks are what they are: upstream's way, other entries, and where they meet."""
