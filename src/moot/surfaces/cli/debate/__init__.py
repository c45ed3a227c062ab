"""Debates in one markdown file: write, read, prove, run. A workspace is not needed."""
