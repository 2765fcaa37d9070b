"""The project measured against what a user would take instead, on identical work, side by side: speed and trust.

``python -m benchmarks`` runs everything and writes RESULTS.md and the figure beside this file; ``python -m benchmarks
--quick`` runs the project against the C loop alone, prints the ratios and writes nothing.
"""
