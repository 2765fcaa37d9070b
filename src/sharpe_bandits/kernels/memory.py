"""Arrays of zeros and the bits of numbers, as kernels ask for them.

NumPy's own functions would do. Numba compiles several functions for each of them and for each type of array, a sixth of
a first call; these become a few instructions (see :mod:`sharpe_bandits.engine.intrinsics`).
"""

import numpy as np


def zeros(shape, kind=np.float64):
    """An array of zeros."""
    return np.zeros(shape, kind)


def makes_arrays(function):
    """Marks a function that makes arrays otherwise than by :func:`zeros`: references are counted in it.

    In others they are not, which compiles faster: what :func:`zeros` gives them is theirs until they return.
    """
    function.makes_arrays = True
    return function


def called(function):
    """Marks a function that kernels call instead of having it inlined: it is long, called from several places, and its
    loops are inside.
    """
    function.called = True
    return function


def words(array):
    """The same memory, an array of float64, seen as 64-bit words."""
    return array.view(np.uint64)


def word_of(number):
    """The bits of a float64."""
    return np.float64(number).view(np.uint64)


def number_of(word):
    """The float64 of given bits."""
    return np.uint64(word).view(np.float64)


#: Columns of a :func:`scratch` array, and how many :func:`fetch` fills at a time.
SCRATCH, FETCHED = 64, 8


def scratch():
    """An array of four rows and SCRATCH columns, of whatever numbers. Compiled code has it on the stack."""
    return np.zeros((4, SCRATCH))


def fetch(pool, rows, first):
    """Fill columns ``first`` to ``first + FETCHED - 1`` of ``rows`` with four neighbouring numbers of ``pool`` each.

    The words of their first row say where in the pool these are. Compiled code reads them four at a time, which takes
    about half as long as to read them one by one.
    """
    for j in range(first, first + FETCHED):
        place = rows[0, j : j + 1].view(np.int64)[0]
        rows[:, j] = pool[place : place + 4]
