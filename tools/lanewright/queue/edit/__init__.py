"""Series, edited as people write them."""
