"""Where experts are and should be: usage maps, and what maps and policies make of a trace."""
