"""Match-Ignition and OPT-Match: cross-encoders that read what a filter leaves of two documents."""
