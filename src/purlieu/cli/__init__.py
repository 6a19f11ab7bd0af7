"""Show in a terminal."""
