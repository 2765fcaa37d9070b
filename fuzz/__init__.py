"""Random and hostile input against everything that reads input.

What must hold: nothing but a :class:`~sharpe_bandits.SharpeBanditsError` is raised, nothing takes longer than two
seconds, and what refused an input is as it was. ``make fuzz MINUTES=5`` runs all targets; a case is a function of its
number alone, so that ``python -m fuzz --target tables --seed 123`` repeats one.
"""
