"""The report: one self-contained page that works offline. Needs matplotlib and jinja2 (the extra ``report``)."""
