"""What kernels ask of memory gives in compiled code what NumPy gives."""

import numpy as np
import pytest

from sharpe_bandits.play import statistics
from sharpe_bandits.play.memory import SCRATCH, word_of, words, zeros
from sharpe_bandits.simulation.compiler import specialise


def made(size, out):
    """Kernels give no arrays: what was made is described in ``out``."""
    line, table, counts = zeros(size), zeros((size, 3)), zeros((2, size, 5), np.uint32)
    flags, signed = zeros(size, np.bool_), zeros((size, 2), np.int64)
    signed[0, 1], counts[0, 0, 0] = -7, 7
    total = 0.0
    for i in range(size):
        line[i] = i + 0.5
        for j in range(3):
            total += table[i, j]
            table[i, j] = 10 * i + j
        for j in range(5):
            total += counts[0, i, j] + counts[1, i, j]
        total += signed[i, 0] + signed[i, 1] + (1.0 if flags[i] else 0.0)
    seen = words(table)
    seen[0, 2] = word_of(-1.5)
    out[0], out[1], out[2], out[3] = total, line[size - 1], table[0, 2], table[size - 1, 1]
    out[4], out[5] = seen.size, counts.size + line.shape[0] + signed.shape[1]


@pytest.mark.parametrize("compiled", [False, True])
def test_arrays_begin_with_zeros_and_hold_what_is_written(compiled):
    out = np.full(6, np.nan)
    (specialise(made, {}) if compiled else made)(np.int64(4), out)
    assert out.tolist() == [0.0, 3.5, -1.5, 31.0, 12.0, 46.0]


def test_a_scratch_array_holds_what_kernels_put_into_it():
    """Compiled code has it on the stack and does not check bounds."""
    assert statistics.FIRSTS <= SCRATCH
