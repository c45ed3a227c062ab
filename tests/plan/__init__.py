"""The shared plan of a piece of work."""
