"""What everything is built on: records, chains, keys, the shape of a machine. Pure, no IO."""
