"""The lane as an image: its changed files as one layer, in an OCI layout."""
