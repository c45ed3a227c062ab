"""What everything stands on: records, chains, keys, the shape of a machine. Pure, no IO."""
