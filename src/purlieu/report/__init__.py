"""Tell: books, ledger files and the MF3.0 result file."""
