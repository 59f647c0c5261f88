"""PDF files in reading order: columns, headings, captions and footnotes, without running heads."""
