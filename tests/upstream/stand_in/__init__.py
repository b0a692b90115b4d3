"""A stand-in for upstream's repository: two releases, a history between them, pull requests."""
