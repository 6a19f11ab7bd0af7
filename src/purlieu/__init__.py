"""Purlieu: a web crawler that knows its bounds."""

__version__ = "0.1.0"
