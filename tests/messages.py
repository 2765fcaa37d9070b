"""Patterns for messages of errors."""

import re


def says(*parts):
    """A pattern that wants all parts, in order."""
    return "(?s)" + ".*".join(re.escape(str(part)) for part in parts)
