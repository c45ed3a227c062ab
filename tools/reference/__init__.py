"""Makes docs/reference/: what can be looked up, taken from the code itself.

    python -m tools.reference          write the pages
    python -m tools.reference --check  exit 1 if a page that git has is stale

One module a page; each gives its whole text. A test compares, so a page cannot lag behind.
"""
