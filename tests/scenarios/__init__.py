"""One set of stories for every way in: the library, the command line, and whatever joins them.

A story is a function that takes a `World` and does operations by their names, with the library's
argument names; it asserts on data and error codes, never on a transport's own form. Each story
says beforehand what it does and what it sees refused, and that is checked against what it did.
`test_coverage.py` fails if an operation stands in no story, or a writing one is never refused.
"""
