"""The real coding tools against a model of our own: opt-in, `make test-agents`."""
