"""Desks: what the runner needs of each protocol (`agents/desk.py`), one file a protocol.

A desk translates in both directions and decides nothing: briefs are made from the protocol's own
views, replies become its own commands, and going on without a reply is its own timeout.
"""
