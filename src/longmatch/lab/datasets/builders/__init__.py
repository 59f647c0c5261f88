"""One builder per file: from the public upstream files, in their original layout, to the common format."""
