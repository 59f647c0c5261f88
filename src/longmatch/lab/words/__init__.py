"""What sentences say, before any network reads them: their words, and how alike the words make them."""
