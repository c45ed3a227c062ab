"""What others' tools make of our files."""
