"""What the papers compare their systems with."""
