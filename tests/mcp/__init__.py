"""`moot mcp`: tools for models."""
