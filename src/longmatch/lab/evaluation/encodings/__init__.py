"""What models make of documents, kept on disk: layers of flat arrays that several models share."""
