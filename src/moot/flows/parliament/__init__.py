"""A parliament over its record and its four files, and a session that runs by itself."""
