"""The result of comparing two documents: levels, alignment, calibration, and ways to show it."""
