"""Trace, after the Agent Protocol: what was done, by whom, with what proof."""
