"""The page: one HTML file, styles and modules, served as they lie. It sees the collection only through /api/v1."""
