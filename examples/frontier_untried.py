"""Ideas for lower regret at no more lock-ins that need more of an arm's rewards than the library keeps.

Each is an upper bound of the signed root of RSSR, h = mean / sqrt(L + variance), at the level c ln N / (s - 2):

- exact empirical KLinf: the largest h of any distribution Q with KL(rewards, Q) at most the level, on the support seen,
  widened by 1/s of its range;
- exponential tilting, the saddlepoint form: the same with KL(Q, rewards);
- Edgeworth (Cornish and Fisher): SF-UCB's width with the correction of a studentised estimate for the skewness of its
  influence;
- retests with a budgeted error: SF-UCB with little exploration (c), but at every doubling of the horizon each arm is
  tested once more against the leader from both sides, at the level of an error of 1/(10 k^2), for at most 2% of the
  rounds so far.

All play the same rewards as SF-UCB on random bandits: seed 1 to look, seed 2 to confirm. Run with:
python examples/frontier_untried.py [runs] [seed] [bandits]
"""

import math
import sys

import numba as nb
import numpy as np

import sharpe_bandits as sb
from frontier import drawn

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 64
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 2
BANDITS = int(sys.argv[3]) if len(sys.argv) > 3 else 20
HORIZON = 10_000
BINS = 128
WIDTH, KLINF, TILTED, EDGEWORTH, RETEST = range(5)
NAMES = ["SF-UCB", "exact empirical KLinf", "exponential tilting", "Edgeworth", "retests, budgeted error"]
LEVELS = {WIDTH: (0.5, 0.3, 0.7), KLINF: (0.5,), TILTED: (0.4,), EDGEWORTH: (0.5, 0.7), RETEST: (0.3,)}


@nb.njit(cache=True)
def influence(x, mean, v, L, out):
    """Of each value on h; gives the mean of its square and of its cube for equal weights."""
    d = L + v
    for j in range(len(x)):
        e = x[j] - mean
        out[j] = (e - 0.5 * mean / d * (e * e - v)) / math.sqrt(d)


@nb.njit(cache=True)
def reweighted_root(x, w, L, unbiased):
    total, mean = 0.0, 0.0
    for j in range(len(x)):
        total += w[j]
        mean += w[j] * x[j]
    mean /= total
    v = 0.0
    for j in range(len(x)):
        v += w[j] * (x[j] - mean) ** 2
    v *= unbiased / total
    return mean / math.sqrt(L + v), mean, v


@nb.njit(cache=True)
def reverse_step(u, p, atom, level, w):
    """Weights of the Q of largest mean of u with KL(P, Q) = level; the last place is an atom that P does not have."""
    n = len(u) - 1
    low = math.log(1e-12)
    high = math.log(1e8)
    span = max(atom - u[:n].min(), 1e-300)
    for _ in range(34):
        middle = 0.5 * (low + high)
        nu = atom + span * math.exp(middle)
        logs, inverse = 0.0, 0.0
        for j in range(n):
            logs += p[j] * math.log(nu - u[j])
            inverse += p[j] / (nu - u[j])
        if logs + math.log(inverse) > level:
            low = middle
        else:
            high = middle
    nu = atom + span * math.exp(high)
    total, logs = 0.0, 0.0
    for j in range(n):
        logs += p[j] * math.log(nu - u[j])
    c = math.exp(logs - level)
    for j in range(n):
        w[j] = c * p[j] / (nu - u[j])
        total += w[j]
    w[n] = max(0.0, 1.0 - total)


@nb.njit(cache=True)
def tilted_step(u, p, level, w):
    """Weights of the Q of largest mean of u with KL(Q, P) = level."""
    n = len(u) - 1
    top = u[:n].max()
    spread = 0.0
    for j in range(n):
        spread += p[j] * u[j] * u[j]
    spread = math.sqrt(max(spread, 1e-300))
    low, high = 0.0, 60.0 / spread
    for _ in range(30):
        middle = 0.5 * (low + high)
        z, m = 0.0, 0.0
        for j in range(n):
            e = p[j] * math.exp(middle * (u[j] - top))
            z += e
            m += e * u[j]
        if middle * (m / z - top) - math.log(z) > level:
            high = middle
        else:
            low = middle
    for j in range(n):
        w[j] = p[j] * math.exp(low * (u[j] - top))
    w[n] = 0.0


@nb.njit(cache=True)
def exact_bound(x, s, mean, v, L, level, mode):
    """The largest h within the level, by linearising h at the Q found so far."""
    lo, hi = x[:s].min(), x[:s].max()
    if s <= 2 * BINS:
        n = s
        values, p = np.empty(n + 1), np.empty(n)
        for j in range(n):
            values[j] = x[j]
            p[j] = 1.0 / s
    else:
        count, total = np.zeros(BINS), np.zeros(BINS)
        for j in range(s):
            k = min(BINS - 1, int(BINS * (x[j] - lo) / (hi - lo)))
            count[k] += 1.0
            total[k] += x[j]
        n = 0
        for k in range(BINS):
            n += count[k] > 0
        values, p = np.empty(n + 1), np.empty(n)
        j = 0
        for k in range(BINS):
            if count[k] > 0:
                values[j] = total[k] / count[k]
                p[j] = count[k] / s
                j += 1
    lo -= (hi - lo) / s
    hi += (hi - lo) / s
    u, w = np.empty(n + 1), np.empty(n + 1)
    m, var, best = mean, v, mean / math.sqrt(L + v)
    unbiased = s / (s - 1.0)
    for _ in range(4):
        # the value of the support with the largest influence
        peak = hi if m <= 0.0 else min(hi, max(lo, m + (L + var) / m))
        values[n] = peak
        influence(values, m, var, L, u)
        if mode == KLINF:
            reverse_step(u, p, u[n], level, w)
        else:
            tilted_step(u, p, level, w)
        found, m, var = reweighted_root(values, w, L, unbiased)
        best = max(best, found)
    return best


@nb.njit(cache=True)
def influence_variance(s, mean, v, third, fourth, L):
    d = L + v
    share = s / (s + 10.0)
    x = mean / d
    fourth = share * fourth + (1.0 - share) * 3.0 * v * v
    w = v / d - x * share * third / d + 0.25 * x * x * (fourth - v * v) / d
    return max(w, 0.25 * (v / d + 0.5 * x * x * v * v / d))


@nb.njit(cache=True)
def play(rewards, L, mode, c, pulls):
    """Pulls per arm and run in the first half and in all."""
    runs, K, n = rewards.shape
    for run in range(runs):
        x = rewards[run]
        s = np.zeros(K, np.int64)
        mean, v, w, upper, at = np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K)
        third, fourth, seen = np.zeros(K), np.zeros(K), np.zeros(K)
        root = np.zeros(K)
        testing, left, epoch = -1, 0, 8
        queue = 0
        scratch = np.empty(n)
        for t in range(n):
            if t == n // 2:
                pulls[run, 0] = s
            if t < 3 * K:
                i = t % K
            else:
                log = math.log(t)
                for k in range(K):
                    # bounds that are dear are worked out anew when s or ln N has grown a little
                    often = s[k] < 100 or s[k] >= 1.01 * seen[k] or mode in (WIDTH, RETEST)
                    if (s[k] != seen[k] and often) or log > at[k] * 1.002:
                        level = c * log / (s[k] - 2.0)
                        if mode in (KLINF, TILTED):
                            upper[k] = exact_bound(x[k], s[k], mean[k], v[k], L, min(level, 50.0), mode)
                        elif mode == EDGEWORTH:
                            influence(x[k, : s[k]], mean[k], v[k], L, scratch)
                            m3 = 0.0
                            for j in range(s[k]):
                                m3 += scratch[j] ** 3
                            skew = m3 / s[k] / w[k] ** 1.5 * (s[k] / (s[k] + 10.0))
                            z = math.sqrt(s[k] * math.expm1(min(2.0 * level, 200.0)))
                            shift = skew * (2.0 * z * z + 1.0) / (6.0 * math.sqrt(s[k]))
                            shift = min(max(shift, -0.5 * z), 0.5 * z)
                            upper[k] = root[k] + math.sqrt(w[k] / s[k]) * (z + shift)
                        else:
                            upper[k] = root[k] + math.sqrt(w[k] * math.expm1(min(2.0 * level, 200.0)))
                        seen[k] = s[k]
                        at[k] = log
                i = 0
                for k in range(K):
                    if upper[k] > upper[i]:
                        i = k
                if mode == RETEST:
                    if t == 2**epoch:
                        epoch += 1
                        queue, testing, left = K, -1, 0
                    while testing < 0 and queue > 0:
                        queue -= 1
                        testing, left = queue, int(0.02 * t / K)
                    if testing >= 0:
                        lead = 0
                        for k in range(K):
                            if root[k] > root[lead]:
                                lead = k
                        need = math.log(10.0 * epoch * epoch)
                        away = math.sqrt(w[testing] * math.expm1(min(2.0 * need / (s[testing] - 2.0), 200.0)))
                        back = math.sqrt(w[lead] * math.expm1(min(2.0 * need / (s[lead] - 2.0), 200.0)))
                        if testing == lead or left == 0 or root[testing] + away < root[lead] - back:
                            testing = -1
                        else:
                            i = testing
                            left -= 1
            y = x[i, s[i]]
            s[i] += 1
            # moments from scratch while few, then by updating
            d = y - mean[i]
            m = s[i]
            part = d / m
            m2 = v[i] * (m - 2.0) if m > 1 else 0.0
            m3, m4 = third[i] * (m - 1.0), fourth[i] * (m - 1.0)
            term = d * part * (m - 1.0)
            fourth[i] = (
                m4 + term * part * part * (m * m - 3.0 * m + 3.0) + 6.0 * part * part * m2 - 4.0 * part * m3
            ) / m
            third[i] = (m3 + term * part * (m - 2.0) - 3.0 * part * m2) / m
            mean[i] += part
            v[i] = (m2 + term) / (m - 1.0) if m > 1 else 0.0
            if m > 1:
                root[i] = mean[i] / math.sqrt(L + v[i])
                w[i] = influence_variance(m, mean[i], v[i], third[i], fourth[i], L)
        pulls[run, 1] = s


def rewards_of(bandit: sb.Bandit, number: int) -> np.ndarray:
    """What every arm pays at each of its pulls, per run."""
    rng = np.random.default_rng([SEED, number, 7])
    shape = (RUNS, HORIZON)
    drawn_ = []
    for arm in bandit.arms:
        words = arm.to_dict()
        kind = words.pop("arm")
        drawn_.append(
            {
                "Uniform": lambda w=words: rng.uniform(w["low"], w["high"], shape),
                "Normal": lambda w=words: rng.normal(w["mean"], math.sqrt(w["variance"]), shape),
                "Gamma": lambda w=words: rng.gamma(w["shape"], w["scale"], shape),
                "Beta": lambda w=words: rng.beta(w["a"], w["b"], shape),
            }[kind]()
        )
    return np.ascontiguousarray(np.swapaxes(drawn_, 0, 1))


if __name__ == "__main__":
    regrets, locked = {}, {}
    for number in range(BANDITS):
        bandit, L = drawn(number, SEED)
        rewards = rewards_of(bandit, number)
        gaps = sb.RSSR(L, signed=True).gaps(
            sb.objectives.Statistics(mean=bandit.means[None], variance=bandit.variances[None])
        )[0]
        for mode, name in enumerate(NAMES):
            for c in LEVELS[mode]:
                pulls = np.zeros((RUNS, 2, len(gaps)), np.int64)
                play(rewards, L, mode, c, pulls)
                late = pulls[:, 1] - pulls[:, 0]
                share = late[:, gaps == 0].sum(axis=1) / late.sum(axis=1)
                key = f"{name}, c = {c:g}"
                regrets.setdefault(key, []).append(pulls[:, 1] @ gaps + 1e-9)
                locked.setdefault(key, []).append([share < bound for bound in (0.01, 0.1, 0.5)])
    base, kept = regrets["SF-UCB, c = 0.5"], np.array(locked["SF-UCB, c = 0.5"])
    print(f"{BANDITS} bandits (seed {SEED}), n = {HORIZON:,}, {RUNS} runs\n")
    print("| variant | regret beside SF-UCB's, geometric mean | locked in at 1% | at 10% | at 50% |")
    print("|---|---:|---:|---:|---:|")
    for name, of_bandits in regrets.items():
        logs, errors = [], []
        for mine, theirs in zip(of_bandits, base, strict=True):
            apart = mine / mine.mean() - theirs / theirs.mean()
            logs.append(math.log(mine.mean() / theirs.mean()))
            errors.append(apart.std(ddof=1) / math.sqrt(RUNS))
        mean, error = math.exp(np.mean(logs)), math.sqrt(sum(e * e for e in errors)) / BANDITS
        rates = np.array(locked[name])  # bandit, share, run
        apart = rates.astype(float) - kept
        words = []
        for k in range(3):
            se = math.sqrt((apart[:, k].var(axis=1, ddof=1) / RUNS).sum()) / BANDITS
            words.append(f"{rates[:, k].mean():.1%} ({100 * apart[:, k].mean():+.1f} ± {100 * se:.1f})")
        print(f"| {name} | {mean:.3f} ± {mean * error:.3f} | {' | '.join(words)} |", flush=True)
