"""The page: one HTML file, styles and modules, served as they lie here. It knows the collection only through /api/v1."""
