"""What entries claim, provide, and are used for."""
