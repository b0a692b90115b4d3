"""Images that others made, read as they come: layouts and archives, their layers, their files."""
