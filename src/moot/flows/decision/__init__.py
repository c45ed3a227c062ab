"""Questions put to participants, and a person's word."""
