"""Match-Ignition and OPT-Match: cross-encoders that read a filtered selection of two documents."""
