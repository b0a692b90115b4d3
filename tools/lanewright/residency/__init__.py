"""Which experts of a model are hot: what is known before a lane boots."""
