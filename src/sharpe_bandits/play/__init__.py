"""Numeric kernels: plain functions of numbers and arrays, compiled by :mod:`sharpe_bandits.simulation.compiler`.

Nothing here imports numba, reads a file or knows a class of the library: every function runs as ordinary (slow) Python
too, which is how the compiled ones are checked.
"""
