"""From one protocol to another (`moot flow`), and the whole path (`moot story`)."""
