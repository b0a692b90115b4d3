"""What rows take over a link that serves one transfer after the other."""
