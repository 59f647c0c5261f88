"""The default matcher: words, phrases and sentence meaning, weighed by what unrelated documents have in common."""
