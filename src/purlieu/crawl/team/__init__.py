"""Several processes of one machine at one run (R-4.4).

One process has the store and is the only one that writes; the others ask the web, read what comes and hand it in.
``seat.py`` is their place with the one that has the store, ``far.py`` is what they see of it.
"""
