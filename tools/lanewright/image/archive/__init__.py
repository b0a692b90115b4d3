"""A lane's image in one file, with what is in it and how it came to be beside it."""
