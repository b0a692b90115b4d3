"""Where upstream's code comes from and where it is kept: git objects, releases."""
