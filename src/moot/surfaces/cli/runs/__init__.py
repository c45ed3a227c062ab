"""What every run of participants shows and asks: limits, a live table, a person's seat, its end."""
