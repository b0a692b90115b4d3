"""Several files of a project replaced together, with one step of undo."""
