"""What chosen hunks need of what is not chosen, and what they take away."""
