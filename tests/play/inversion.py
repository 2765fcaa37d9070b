"""Streams whose first reward comes from a chosen uniform number: the mixing function run backwards."""

import numpy as np

WORDS = 2**64


def unmixed(word):
    """The inverse of splitmix64's finaliser, with the inverses of its two multipliers modulo 2**64."""
    word ^= (word >> 31) ^ (word >> 62)
    word = word * pow(0x94D049BB133111EB, -1, WORDS) % WORDS
    word ^= (word >> 27) ^ (word >> 54)
    word = word * pow(0xBF58476D1CE4E5B9, -1, WORDS) % WORDS
    word ^= (word >> 30) ^ (word >> 60)
    return word


def key_of(u):
    """A key whose pull 0 draws the number nearest to ``u`` that the generator can give, and that number."""
    k = min(max(int(u * 2**52), 0), 2**52 - 1)
    return np.uint64(unmixed(k << 12)), (k + 0.5) / 2**52
