"""Recorded returns: strict reading, statistics, rankings corrected for selection, comparisons and replays."""
