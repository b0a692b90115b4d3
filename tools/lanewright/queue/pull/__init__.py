"""Pull requests: their change, what can be taken of them, how they stand upstream."""
