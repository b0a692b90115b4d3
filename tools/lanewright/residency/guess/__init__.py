"""Guessers of the next experts beside one another, on requests that none of them learned from."""
