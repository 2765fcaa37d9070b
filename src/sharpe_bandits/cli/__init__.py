"""The command line: ``program`` reads it, and ``commands`` has a module for each larger command."""
