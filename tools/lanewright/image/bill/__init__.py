"""What is in an image, as others read it: a bill of materials and a provenance."""
