"""Counter-based random numbers: every number is a pure function of its purpose.

A reward is a function of (seed, run, arm, number of the pull), a policy's own randomness a function of (seed, run, arm,
round). No state is carried from draw to draw. Results therefore do not depend on threads, chunks, order, or on which
other policies take part, and any run can be replayed alone.
"""

import math

import numpy as np

from .memory import number_of, word_of

U64 = np.uint64
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(0xD1342543DE82EF95)
_ONE, _TWO = np.uint64(1), np.uint64(2)
_S12, _S27, _S30, _S31 = np.uint64(12), np.uint64(27), np.uint64(30), np.uint64(31)
_S52, _MANTISSA = np.uint64(52), np.uint64((1 << 52) - 1)
#: Added to a number below 2**51, it leaves the nearest integer in the last bits.
_TO_WHOLE, _BIAS = 6755399441055744.0, np.uint64(1023)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_ROOT_HALF = np.uint64(0x3FE6A09E667F3BCD)  # the bits of sqrt(1/2)
_ONE_BITS = np.uint64(0x3FF0000000000000)
_ONE_LESS_ROOT = _ONE_BITS - _ROOT_HALF

#: Domains: rewards and policy randomness of the same (seed, run, arm) never share a stream.
REWARDS, POLICY = np.uint64(1), np.uint64(2)

#: Within e**-25 of 0 or 1, once in 36 billion draws, a normal quantile needs another formula.
FAR = 1.388794386496402e-11


def mix64(z):
    """The finaliser of splitmix64: a bijection of 64-bit words whose output looks random."""
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


def fold(key, number):
    """A new key from a key and a number."""
    return mix64(key + (U64(number) + _ONE) * _FOLD)


def stream_key(seed, domain, run):
    """The key of one run within a domain; fold an arm into it to get the arm's stream."""
    return fold(fold(mix64(U64(seed)), domain), run)


def unit(bits):
    """A double in (0, 1) from 64 bits: (k + 1/2) / 2**52, symmetric about 1/2, never 0 or 1.

    The bits of 1 + k / 2**52, reinterpreted, minus 1 - 1 / 2**53: no rounding and no conversion.
    """
    return number_of((bits >> _S12) | _ONE_BITS) - 0.9999999999999999


def reward_bits(key, pull):
    """64 bits for a pull of the stream ``key``."""
    return mix64(key + U64(pull) * GOLDEN)


def uniform(key, which):
    """Uniform draw on (0, 1): the ``which``-th number of the stream ``key``."""
    return unit(mix64(key + (U64(which) + _ONE) * GOLDEN))


def log(x):
    """Natural logarithm of a positive normal float, accurate to one ulp (the algorithm of fdlibm) and branch-free, so
    that loops over many runs can be vectorised.
    """
    bits = word_of(x) + _ONE_LESS_ROOT
    exponent = np.float64(np.int64(bits >> _S52) - 1023)
    f = number_of((bits & _MANTISSA) + _ROOT_HALF) - 1.0  # x / 2**exponent is in [sqrt(1/2), sqrt(2))
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    odd = w * (3.999999999940941908e-1 + w * (2.222219843214978396e-1 + w * 1.531383769920937332e-1))
    even = 2.857142874366239149e-1 + w * (1.818357216161805012e-1 + w * 1.479819860511658591e-1)
    even = z * (6.666666666666735130e-1 + w * even)
    half = 0.5 * f * f
    return exponent * 0.6931471805599453 - (half - s * (half + (odd + even)) - f)


def expm1(x):
    """e^x - 1 for x from 0 to 700, accurate to two ulps and branch-free."""
    shifted = x * 1.4426950408889634 + _TO_WHOLE  # its last bits are the integer nearest to x / ln 2
    k = shifted - _TO_WHOLE
    r = (x - k * 6.93147180369123816490e-1) - k * 1.90821492927058770002e-10  # |r| <= ln(2) / 2
    low = 1.0 / 3628800.0 + r * (1.0 / 39916800.0 + r * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0)))
    low = 1.0 / 720.0 + r * (1.0 / 5040.0 + r * (1.0 / 40320.0 + r * (1.0 / 362880.0 + r * low)))
    low = r + r * r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r * low))))
    power = number_of((word_of(shifted) + _BIAS) << _S52)
    return power * low + (power - 1.0)


def root_growth(x):
    """sqrt((e^x - 1) / x) for x from 0 to 700, accurate to two ulps; up to 2 a Chebyshev approximation of degree 12."""
    if x > 2.0:
        return math.sqrt(expm1(x) / x)
    z = x * x
    even = 2.5657718522353856e-08 + z * (-2.727055099093193e-12 - z * 2.4755422530687398e-12)
    even = 0.052083333333368266 + z * (0.0008572048627586851 + z * (5.7321416091766015e-06 + z * even))
    odd = 4.561529466926273e-07 + z * (6.947283958332818e-11 + z * 3.6265703253533736e-11)
    odd = 0.2499999999999987 + z * (0.007812499999653711 + z * (7.324218349648114e-05 + z * odd))
    return 1.0 + (z * even + x * odd)


def log1p(x):
    """ln(1 + x) for x from 0 to 1e300, accurate to two ulps and branch-free."""
    u = 1.0 + x
    return log(u) + (x - (u - 1.0)) / u


def near_quantile(u):
    """:func:`normal_quantile` without a branch; wrong within FAR of 0 or 1."""
    q = u - 0.5
    r = 0.180625 - q * q
    top = 2.5090809287301226727e3 * r + 3.3430575583588128105e4
    top = ((top * r + 6.7265770927008700853e4) * r + 4.5921953931549871457e4) * r + 1.3731693765509461125e4
    top = ((top * r + 1.9715909503065514427e3) * r + 1.3314166789178437745e2) * r + 3.3871328727963666080e0
    low = 5.2264952788528545610e3 * r + 2.8729085735721942674e4
    low = ((low * r + 3.9307895800092710610e4) * r + 2.1213794301586595867e4) * r + 5.3941960214247511077e3
    low = ((low * r + 6.8718700749205790830e2) * r + 4.2313330701600911252e1) * r + 1.0
    middle = q * top / low
    r = math.sqrt(-log(min(u, 1.0 - u))) - 1.6
    top = 7.74545014278341407640e-4 * r + 2.27238449892691845833e-2
    top = ((top * r + 2.41780725177450611770e-1) * r + 1.27045825245236838258e0) * r + 3.64784832476320460504e0
    top = ((top * r + 5.76949722146069140550e0) * r + 4.63033784615654529590e0) * r + 1.42343711074968357734e0
    low = 1.05075007164441684324e-9 * r + 5.47593808499534494600e-4
    low = ((low * r + 1.51986665636164571966e-2) * r + 1.48103976427480074590e-1) * r + 6.89767334985100004550e-1
    low = ((low * r + 1.67638483018380384940e0) * r + 2.05319162663775882187e0) * r + 1.0
    tail = top / low
    tail = -tail if q < 0.0 else tail
    return middle if abs(q) <= 0.425 else tail


def normal_quantile(u):
    """Quantile of the standard normal distribution, accurate to about 1e-16 (Wichura, 1988, algorithm AS 241)."""
    p = min(u, 1.0 - u)
    if p > FAR:
        return near_quantile(u)
    r = math.sqrt(-log(p)) - 5.0
    top = 2.01033439929228813265e-7 * r + 2.71155556874348757815e-5
    top = ((top * r + 1.24266094738807843860e-3) * r + 2.65321895265761230930e-2) * r + 2.96560571828504891230e-1
    top = ((top * r + 1.78482653991729133580e0) * r + 5.46378491116411436990e0) * r + 6.65790464350110377720e0
    low = 2.04426310338993978564e-15 * r + 1.42151175831644588870e-7
    low = ((low * r + 1.84631831751005468180e-5) * r + 7.86869131145613259100e-4) * r + 1.48753612908506148525e-2
    low = ((low * r + 1.36929880922735805310e-1) * r + 5.99832206555887937690e-1) * r + 1.0
    return -top / low if u < 0.5 else top / low


def normal(key, which):
    """Standard normal draw: the ``which``-th of the stream ``key``, one of a :func:`normal_pair`."""
    even, odd = normal_pair(key, which)
    return odd if U64(which) & _ONE else even


def normal_pair(key, which):
    """Standard normal draws 2j and 2j + 1 of the stream ``key``, where ``which`` is one of the two; branch-free (Box &
    Muller, 1958). They consume the uniform numbers 2j and 2j + 1 of the stream.
    """
    pair = U64(which) & ~_ONE
    radius = math.sqrt(-2.0 * log(unit(mix64(key + (pair + _ONE) * GOLDEN))))
    word = mix64(key + (pair + _TWO) * GOLDEN)
    angle = unit(word) * 1.5707963267948966 - 0.7853981633974483  # in one quadrant; two bits choose which
    z = angle * angle
    sine = 2.75573137070700676789e-6 + z * (-2.50507602534068634195e-8 + z * 1.58969099521155010221e-10)
    sine = 8.33333333332248946124e-3 + z * (-1.98412698298579493134e-4 + z * sine)
    sine = angle + angle * z * (-1.66666666666666324348e-1 + z * sine)
    cosine = -2.75573143513906633035e-7 + z * (2.08757232129817482790e-9 - z * 1.13596475577881948265e-11)
    cosine = 4.16666666666666019037e-2 + z * (-1.38888888888741095749e-3 + z * (2.48015872894767294178e-5 + z * cosine))
    cosine = 1.0 - z * (0.5 - z * cosine)
    cosine = -cosine if word & _ONE else cosine
    crossed = (word >> _ONE) & _ONE
    return radius * (cosine if crossed else sine), radius * (sine if crossed else cosine)


#: Number of the normal draw that costs next to nothing where :func:`gamma` is drawn from the same stream.
BESIDE_GAMMA = 9


def _gamma_trial(key, which, shape):
    """A candidate for :func:`gamma` and its margin of acceptance by a cheap test (below 0: undecided)."""
    d = shape - 1.0 / 3.0
    z = normal(key, which) / math.sqrt(9.0 * d)
    v = 1.0 + z
    z2 = z * z
    # The log acceptance probability is -3 d int_0^z y^3 / (1 + y) dy, of which this is a bound.
    safe = (1.0 - uniform(key, which + 2)) * min(1.0, v) - 0.75 * d * z2 * z2
    return d * (v * v * v), safe


def gamma(key, shape):
    """Gamma draw of unit scale and shape >= 1 (Marsaglia & Tsang, 2000) from number 8 on of the stream ``key``, except
    normal number BESIDE_GAMMA: a formula may use that one and numbers 0 to 7.
    """
    which = 8
    while True:
        draw, safe = _gamma_trial(key, which, shape)
        if safe >= 0.0:
            return draw
        d = shape - 1.0 / 3.0
        if draw > 0.0:
            x = normal(key, which)
            v = draw / d
            if log(uniform(key, which + 2)) < 0.5 * x * x + d * (1.0 - v + log(v)):
                return draw
        which += 4


def gamma_branch_free(key, shape):
    """:func:`gamma` without a branch; NaN where its first trial is undecided (about once in 36 * shape draws)."""
    draw, safe = _gamma_trial(key, 8, shape)
    return draw if safe >= 0.0 else math.nan
