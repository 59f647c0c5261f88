"""Ways to show a match: in the terminal, and as one HTML page that works offline. JSON is `Match.to_dict`."""
