"""A lane's image in a container: how it is run, and that it answers as the lane does."""
