"""Commands of the command line, one per module: ``add`` adds the options to a parser and sets what it does."""
