"""Chess and Go boards as SVG for HTML pages."""
