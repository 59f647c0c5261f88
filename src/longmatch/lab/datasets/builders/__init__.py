"""One builder a file: from the public upstream files, in exactly their layout, to the common form."""
