"""Text that stands in two documents word for word, or nearly, and how two versions of one text differ."""
