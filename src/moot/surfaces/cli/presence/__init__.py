"""Agents and where they work: join, run, reserve, hand over, see who is here and what is due."""
