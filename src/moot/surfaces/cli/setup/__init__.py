"""What one looks for first: help, codes, completion, and how to take it all out again."""
