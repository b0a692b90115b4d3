"""Records the picks of a lane's engine as a trace."""
