"""Results as JSON, Markdown, a terminal table and plots."""
