"""One change, merged: where its hunks belong, and what becomes of each."""
