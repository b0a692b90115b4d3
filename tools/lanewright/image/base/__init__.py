"""The base of CPU lanes' images, made on the user's machine."""
