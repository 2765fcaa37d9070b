"""Commands of the command line, one per file: ``add`` makes its parser and says what it does."""
