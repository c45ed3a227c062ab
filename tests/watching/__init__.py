"""Watching what others hold."""
