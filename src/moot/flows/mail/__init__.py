"""Mail over the engine: sending, reading, notices in two records, research threads."""
