"""Telemetry of moot itself: what a collector gets, and that nothing is done where it is off."""
