"""One file per command, one plain function each."""
