"""Ask the web, one hop at a time; nothing here decides what is asked."""
