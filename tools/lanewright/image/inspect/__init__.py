"""What an image says of itself, read from its labels: no project and no store is needed."""
