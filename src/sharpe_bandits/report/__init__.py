"""The report: one self-contained page that works offline. Needs matplotlib and plotly (the extra ``report``)."""
