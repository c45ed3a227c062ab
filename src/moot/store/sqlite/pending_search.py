"""Searching texts that are not in the full-text index yet.

They are few, and get a full-text index of their own in memory, so that the same tokenizer decides
what a word is wherever a text stands, and reading still writes nothing.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing

from moot.store.sqlite.queries import SQL

_INDEX = "CREATE VIRTUAL TABLE index_words USING fts5 (space UNINDEXED, key UNINDEXED, text)"


def search_texts(
    texts: list[tuple[str, str]], space: str, query: str, limit: int
) -> list[tuple[float, str]]:
    """Rank and key of the (key, text) that match, as SQL["search"] gives them."""
    if not texts:
        return []
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(_INDEX)
        rows = [(space, key, text) for key, text in texts]
        db.executemany("INSERT INTO index_words VALUES (?, ?, ?)", rows)
        return db.execute(SQL["search"], (query, space, limit)).fetchall()
