"""Hooks: decisions, fail-closed, installing. Real git, real processes where it matters."""
