"""Parliaments: call a session, submit messages, vote, decide, print the final bill."""
