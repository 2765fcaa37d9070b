"""Counter-based random numbers: every number is a pure function of what it is for.

A reward is a function of (seed, run, arm, how-many-th pull) and a policy's own randomness one of (seed, run, arm,
round). Nothing is carried from draw to draw, so results do not depend on threads, chunks, order, or on which other
policies take part, and any run can be replayed alone.
"""

import math

import numpy as np

U64 = np.uint64
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(0xD1342543DE82EF95)
_ONE = np.uint64(1)
_S12, _S27, _S30, _S31, _S32 = np.uint64(12), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_LOW32 = np.uint64(0xFFFFFFFF)
_LAYER, _SIGN = np.uint64(0xFF), np.uint64(0x100)

#: Domains: rewards and policy randomness of the same (seed, run, arm) never share a stream.
REWARDS, POLICY = np.uint64(1), np.uint64(2)

#: Sources of bits for rewards (see :func:`reward_bits`).
SPLITMIX, PHILOX = 0, 1


def mix64(z):
    """The finaliser of splitmix64: a bijection of 64-bit words that looks random."""
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
    """A double in (0, 1) from 64 bits: (k + 1/2) / 2**52, symmetric about 1/2, never 0 or 1."""
    return (np.float64(bits >> _S12) + 0.5) * 2.220446049250313e-16


def mulhi(a, b):
    """The high 64 bits of a 64 by 64 bit product."""
    a0, a1, b0, b1 = a & _LOW32, a >> _S32, b & _LOW32, b >> _S32
    low, cross = a0 * b0, a1 * b0
    middle = (low >> _S32) + (cross & _LOW32) + a0 * b1
    return a1 * b1 + (cross >> _S32) + (middle >> _S32)


def philox(counter, key):
    """First word of Philox4x64-10 (Salmon et al., 2011) at counter (counter, 0, 0, 0) and key (key, 0)."""
    c0, c1, c2, c3 = U64(counter), U64(0), U64(0), U64(0)
    k0, k1 = U64(key), U64(0)
    for _ in range(10):
        h0, l0 = mulhi(U64(0xD2E7470EE14C6C93), c0), U64(0xD2E7470EE14C6C93) * c0
        h1, l1 = mulhi(U64(0xCA5A826395121157), c2), U64(0xCA5A826395121157) * c2
        c0, c1, c2, c3 = h1 ^ c1 ^ k0, l1, h0 ^ c3 ^ k1, l0
        k0 += GOLDEN
        k1 += U64(0xBB67AE8584CAA73B)
    return c0


def reward_bits(source, key, pull):
    """64 bits for a pull of the stream ``key``, from the fast or from the cryptography-grade source."""
    if source == PHILOX:
        return philox(U64(pull), key)
    return mix64(key + U64(pull) * GOLDEN)


def uniform(key, which):
    """Uniform draw on (0, 1): the ``which``-th number of the stream ``key``."""
    return unit(mix64(key + (U64(which) + _ONE) * GOLDEN))


def normal_quantile(u):
    """Quantile of the standard normal distribution, to about 1e-16 (Wichura, 1988, algorithm AS 241)."""
    q = u - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        top = 2.5090809287301226727e3 * r + 3.3430575583588128105e4
        top = ((top * r + 6.7265770927008700853e4) * r + 4.5921953931549871457e4) * r + 1.3731693765509461125e4
        top = ((top * r + 1.9715909503065514427e3) * r + 1.3314166789178437745e2) * r + 3.3871328727963666080e0
        low = 5.2264952788528545610e3 * r + 2.8729085735721942674e4
        low = ((low * r + 3.9307895800092710610e4) * r + 2.1213794301586595867e4) * r + 5.3941960214247511077e3
        low = ((low * r + 6.8718700749205790830e2) * r + 4.2313330701600911252e1) * r + 1.0
        return q * top / low
    r = math.sqrt(-math.log(u if q < 0.0 else 1.0 - u))
    if r <= 5.0:
        r -= 1.6
        top = 7.74545014278341407640e-4 * r + 2.27238449892691845833e-2
        top = ((top * r + 2.41780725177450611770e-1) * r + 1.27045825245236838258e0) * r + 3.64784832476320460504e0
        top = ((top * r + 5.76949722146069140550e0) * r + 4.63033784615654529590e0) * r + 1.42343711074968357734e0
        low = 1.05075007164441684324e-9 * r + 5.47593808499534494600e-4
        low = ((low * r + 1.51986665636164571966e-2) * r + 1.48103976427480074590e-1) * r + 6.89767334985100004550e-1
        low = ((low * r + 1.67638483018380384940e0) * r + 2.05319162663775882187e0) * r + 1.0
    else:
        r -= 5.0
        top = 2.01033439929228813265e-7 * r + 2.71155556874348757815e-5
        top = ((top * r + 1.24266094738807843860e-3) * r + 2.65321895265761230930e-2) * r + 2.96560571828504891230e-1
        top = ((top * r + 1.78482653991729133580e0) * r + 5.46378491116411436990e0) * r + 6.65790464350110377720e0
        low = 2.04426310338993978564e-15 * r + 1.42151175831644588870e-7
        low = ((low * r + 1.84631831751005468180e-5) * r + 7.86869131145613259100e-4) * r + 1.48753612908506148525e-2
        low = ((low * r + 1.36929880922735805310e-1) * r + 5.99832206555887937690e-1) * r + 1.0
    return -top / low if q < 0.0 else top / low


def _ziggurat():
    """Edges of 256 layers of equal area under exp(-x^2/2), and the curve at them (Marsaglia & Tsang, 2000)."""
    area = _TAIL * math.exp(-0.5 * _TAIL * _TAIL) + math.sqrt(0.5 * math.pi) * math.erfc(_TAIL / math.sqrt(2.0))
    edge = np.zeros(257)
    edge[0] = area / math.exp(-0.5 * _TAIL * _TAIL)
    edge[1] = _TAIL
    for i in range(1, 255):
        edge[i + 1] = math.sqrt(-2.0 * math.log(area / edge[i] + math.exp(-0.5 * edge[i] * edge[i])))
    return edge, np.exp(-0.5 * edge * edge)


_TAIL = 3.6541528853610088
_EDGE, _CURVE = _ziggurat()


def normal(key, which):
    """Standard normal draw: the ``which``-th number of the stream ``key``, by the ziggurat."""
    word = mix64(key + (U64(which) + _ONE) * GOLDEN)
    while True:
        layer = np.int64(word & _LAYER)
        x = unit(word) * _EDGE[layer]
        if x >= _EDGE[layer + 1]:  # about one in a hundred
            u = unit(mix64(word + GOLDEN))
            if layer == 0:
                x = -math.log(u) / _TAIL
                inside = -2.0 * math.log(unit(mix64(word + U64(3) * GOLDEN))) > x * x
                x += _TAIL
            else:
                height = _CURVE[layer] + u * (_CURVE[layer + 1] - _CURVE[layer])
                inside = height < math.exp(-0.5 * x * x)
            if not inside:
                word = mix64(word + U64(5) * GOLDEN)
                continue
        return -x if word & _SIGN else x


def gamma(key, shape):
    """Gamma draw of unit scale and shape >= 1 (Marsaglia & Tsang, 2000).

    Uses the numbers of the stream ``key`` from the eighth on, so that a formula may take a few of its own before.
    """
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    which = 8
    while True:
        x = normal(key, which)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            u = uniform(key, which + 1)
            x2 = x * x
            if u < 1.0 - 0.0331 * x2 * x2 or math.log(u) < 0.5 * x2 + d * (1.0 - v + math.log(v)):
                return d * v
        which += 2
