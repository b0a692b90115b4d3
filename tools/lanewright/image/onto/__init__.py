"""A lane's layer on a base: the image that serves it."""
