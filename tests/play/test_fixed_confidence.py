"""Fixed confidence: every choice and the stop, against twins in plain Python."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

import sharpe_bandits as sb
from sharpe_bandits.play.fixed_confidence import least_evidence
from sharpe_bandits.policies.scale_free import FLOOR, PRIOR
from tests.fixed_confidence import CASES, identify
from tests.twin import Record


def moment(record, power):
    mean = record.mean
    return math.fsum((x - mean) ** power for x in record.rewards) / record.s


def facts(record, L, risk_free=0.0, m=32):
    """The root of an arm, the square of its error, the price of time-uniformity, and whether it may be judged."""
    s, mean, v = record.s, record.mean - risk_free, record.variance
    d = L + v
    share = s / (s + PRIOR)
    third = share * moment(record, 3)
    fourth = moment(record, 4)
    drawn = share * fourth + (1 - share) * 3 * v**2
    w = v / d - mean * third / d**2 + mean**2 * (drawn - v**2) / (4 * d**3)
    w = max(w, FLOOR * (v / d + mean**2 * v**2 / (2 * d**3)))
    alike = min(record.rewards) == max(record.rewards)
    w = max(w, 0.5) if alike else w * (1 + 4 * fourth / v**2 / s)
    judged = alike or s >= 12 * fourth / v**2
    return mean / math.sqrt(d), w * (1 + m / s) / s, math.log(1 + s / m) / 2, judged


def twin(tape, L, delta, limit, risk_free=0.0, pilot=32):
    """The rule of the docstring of LUCB, on lists. Gives choices, the arm that looks best, and whether it is sure."""
    arms = len(tape)
    records = [Record() for _ in range(arms)]
    choices = []

    def pull(i):
        records[i].rewards.append(float(tape[i][records[i].s]))
        choices.append(i)

    for _ in range(pilot):
        for i in range(arms):
            pull(i)
    known = [facts(r, L, risk_free) for r in records]
    while True:
        best = max(range(arms), key=lambda i: (known[i][0], -i))
        rivals = [i for i in range(arms) if i != best]
        beta = {i: math.log((arms - 1) / delta) + known[best][2] + known[i][2] for i in rivals}
        widths = {i: math.sqrt(2 * beta[i] * (known[best][1] + known[i][1])) for i in rivals}
        challenger = max(rivals, key=lambda i: (known[i][0] - known[best][0] + widths[i], -i))
        leads = {i: (known[best][0] - known[i][0]) * math.sqrt(beta[i]) / widths[i] for i in rivals}
        close = all(leads[i] ** 2 + 2 * math.log(1.8) > beta[i] for i in rivals)  # worth a closer look
        decided = close and all(evidence(known[best], known[i]) >= beta[i] for i in rivals)
        missing = [i for i in range(arms) if decided and not known[i][3]]
        if (decided and not missing) or len(choices) == limit:
            return choices, best, decided and not missing
        beside = [i for i in missing[:1] if i != best] or [challenger]
        for i in [best, *beside][: limit - len(choices)]:
            pull(i)
            known[i] = facts(records[i], L, risk_free)


def evidence(best, rival):
    """The least evidence against a common value of two arms, by a search over that value."""

    def against(value):
        errors = (best[0] - value) / math.sqrt(best[1]), (value - rival[0]) / math.sqrt(rival[1])
        return sum(z * z / 2 + math.log(1.8 * norm.cdf(z) + 0.2 * norm.cdf(-z)) for z in errors)

    return minimize_scalar(against, bounds=(rival[0], best[0]), method="bounded", options={"xatol": 1e-12}).fun


@pytest.mark.parametrize(("lead", "first", "second"), [(3, 1, 1), (4, 1, 0.01), (4, 0.0004, 1), (0.02, 1e-6, 4e-5)])
def test_no_common_value_of_two_arms_has_less_evidence_against_it(lead, first, second):
    values = np.linspace(-lead, 2 * lead, 300_001)
    z = np.array([(lead - values) / math.sqrt(first), values / math.sqrt(second)])
    every = (z * z / 2 + np.log(1.8 * norm.cdf(z) + 0.2 * norm.cdf(-z))).sum(axis=0)
    assert least_evidence(lead, first, second) == pytest.approx(every.min(), rel=1e-7)


@pytest.mark.parametrize(("tape", "policy", "limit"), CASES)
def test_the_engine_does_what_the_twin_does(tape, policy, limit):
    choices, best, sure = twin(tape, policy.L, policy.delta, limit, policy.risk_free, policy.pilot_pulls)
    trace = sb.trace(policy, sb.Tape(tape), horizon=limit)
    assert trace.choices.tolist() == choices
    assert trace.recommended == best
    found = identify(policy, sb.Tape(tape), runs=2, max_budget=limit)
    assert found.rounds.tolist() == [len(choices)] * 2
    assert found.recommended[:, 0].tolist() == [best] * 2
    assert found.stopped.tolist() == [sure] * 2
    assert found.final[0].tolist() == np.bincount(choices, minlength=len(tape)).tolist()


def test_the_cases_stop_and_do_not_stop():
    sure = [identify(policy, sb.Tape(tape), runs=1, max_budget=limit).stopped[0] for tape, policy, limit in CASES]
    assert {True, False} <= set(map(bool, sure))


def test_top_two_plays_as_a_twin_in_plain_python_says():
    """Forced exploration, the hardest rival, and the balance of the best arm, written from the definition."""
    tape = np.random.default_rng(3).gamma(2.0, 1.0, (4, 600)) * [[1.0], [1.1], [1.6], [0.5]]
    tape, L = np.add(tape, [[0.9], [0.7], [0], [0]]), 0.5
    trace = sb.trace(sb.TopTwo(L=L, pilot_pulls=8, delta=1e-9), sb.Tape(tape), horizon=400)
    past, rules = [Record() for _ in tape], set()
    for t in range(400):
        arm = t % 4
        if t >= 32:
            s, (h, e, *_) = [x.s for x in past], zip(*(facts(x, L) for x in past), strict=True)
            best = max(range(4), key=lambda i: h[i])
            rivals = [i for i in range(4) if i != best]
            hardest = min(rivals, key=lambda i: (h[best] - h[i]) ** 2 / (e[best] + e[i]))
            arm = best if s[best] / e[best] < sum(s[i] / e[i] for i in rivals) else hardest
            rules.add("best" if arm == best else "rival")
            if min(s) < math.sqrt(t) - 2:
                arm = s.index(min(s))
                rules.add("forced")
        assert trace.choices[t] == arm, f"round {t}"
        past[arm].rewards.append(tape[arm, past[arm].s])
    assert rules == {"best", "rival", "forced"}
