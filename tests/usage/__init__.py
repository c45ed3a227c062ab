"""What coding tools use: their reports, the listener that takes them, and where the sums stand."""
