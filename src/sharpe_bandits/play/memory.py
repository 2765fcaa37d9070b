"""Arrays of zeros and the bits of numbers, for use in kernels.

NumPy's own functions would do, but Numba takes long to compile them: a sixth of a first call. Those on arrays become a
few instructions (see :mod:`sharpe_bandits.simulation.accelerator`).
"""

import numpy as np


def zeros(shape, kind=np.float64):
    """An array of zeros."""
    return np.zeros(shape, kind)


def called(function):
    """Marks a function that kernels call instead of having it inlined: it is long, called from several places, and its
    loops are inside.
    """
    function.called = True
    return function


def words(array):
    """A view of a float64 array as 64-bit words."""
    return array.view(np.uint64)


def word_of(number):
    """The bits of a float64."""
    return np.float64(number).view(np.uint64)


def number_of(word):
    """The float64 with the given bits."""
    return np.uint64(word).view(np.float64)


#: Numbers in a :func:`scratch` array.
SCRATCH = 64


def scratch():
    """An array of SCRATCH numbers with arbitrary contents. Compiled code allocates it on the stack."""
    return np.zeros(SCRATCH)
