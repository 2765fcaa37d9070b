"""Commands: ``add``, or ``add_run`` where several share a module, adds options to a parser and sets what it does."""
