"""What the command line has printed so far, which may grow and never change."""
