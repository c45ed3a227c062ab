"""`moot guard check` and `moot hook`: may an agent write there, and who asks before it does."""
