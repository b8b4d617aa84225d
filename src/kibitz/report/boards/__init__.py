"""Boards as inline SVG."""
