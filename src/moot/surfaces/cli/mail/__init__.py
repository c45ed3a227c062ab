"""Messages: write, check, send, read, answer, compile."""
