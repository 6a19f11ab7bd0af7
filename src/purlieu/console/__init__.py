"""Show in a browser: ``purlieu serve``. Views only show; what they show is read by ``report/`` and ``store/``."""
