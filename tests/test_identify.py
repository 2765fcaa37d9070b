"""Fixed confidence: the rule against a plain twin, agents against the engine, and errors against delta."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import sharpe_bandits as sb
from sharpe_bandits.policies.scale_free import FLOOR, PRIOR
from tests.damage import with_checksum
from tests.twin import Record

GENERATOR = np.random.default_rng(5)
#: Three arms of clearly different ratios, skewed, long enough for any stop.
SKEWED = GENERATOR.gamma([[4.0], [2.0], [1.0]], [[0.5], [0.7], [1.2]], size=(3, 4000))
#: Two that are close, and pay whole numbers: ties, and sums that are exact.
WHOLE = GENERATOR.integers(0, [[6], [5]], size=(2, 4000)).astype(float)
#: Losses too, near a million.
SHIFTED = 1e6 + GENERATOR.normal([[0.9], [0.0], [0.3], [-1.0]], 1.0, size=(4, 4000))


def moment(record, power):
    mean = record.mean
    return math.fsum((x - mean) ** power for x in record.rewards) / record.s


def identify(policy, *arguments, **options):
    """What one policy found."""
    return sb.identify(policy, *arguments, **options)[policy.name]


def twin(tape, L, delta, limit, risk_free=0.0, pilot=32, m=32):
    """The rule of the docstring of LUCB, on lists. Gives choices, the arm that looks best, and whether it is sure."""
    arms = len(tape)
    records = [Record() for _ in range(arms)]
    choices = []

    def pull(i):
        records[i].rewards.append(float(tape[i][records[i].s]))
        choices.append(i)

    def facts(record):
        s, mean, v = record.s, record.mean - risk_free, record.variance
        d = L + v
        share = s / (s + PRIOR)
        third = share * moment(record, 3)
        fourth = moment(record, 4)
        drawn = share * fourth + (1 - share) * 3 * v**2
        w = v / d - mean * third / d**2 + mean**2 * (drawn - v**2) / (4 * d**3)
        w = max(w, FLOOR * (v / d + mean**2 * v**2 / (2 * d**3)))
        w = max(w, 0.5) if min(record.rewards) == max(record.rewards) else w * (1 + 4 * fourth / v**2 / s)
        return mean / math.sqrt(d), w * (1 + m / s) / s, math.log(1 + s / m) / 2

    for _ in range(pilot):
        for i in range(arms):
            pull(i)
    known = [facts(r) for r in records]
    while True:
        best = max(range(arms), key=lambda i: (known[i][0], -i))
        ahead = {}
        for i in set(range(arms)) - {best}:
            beta = math.log((arms - 1) / delta) + known[best][2] + known[i][2]
            ahead[i] = known[i][0] - known[best][0] + math.sqrt(2 * beta * (known[best][1] + known[i][1]))
        challenger = max(ahead, key=lambda i: (ahead[i], -i))
        if ahead[challenger] < 0 or len(choices) == limit:
            return choices, best, ahead[challenger] < 0
        for i in (best, challenger)[: limit - len(choices)]:
            pull(i)
            known[i] = facts(records[i])


CASES = [
    (SKEWED, sb.LUCB(L=0.5), 4000),
    (SKEWED, sb.LUCB(L=0.01, delta=0.3, risk_free=0.4, pilot_pulls=5), 4000),
    (WHOLE, sb.LUCB(L=1.0, delta=0.2), 301),  # ends between the two pulls of a pair
    (SHIFTED, sb.LUCB(L=0.5, risk_free=1e6), 2000),
    (np.vstack([SKEWED[:2], np.full((1, 4000), 0.7)]), sb.LUCB(L=0.3, pilot_pulls=2), 1000),
]


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


@pytest.mark.parametrize(("tape", "policy", "limit"), CASES)
def test_a_live_agent_asks_what_the_engine_chose(tape, policy, limit):
    trace = sb.trace(policy, sb.Tape(tape), horizon=limit)
    sure = identify(policy, sb.Tape(tape), runs=1, max_budget=limit).stopped[0]
    agent = policy.agent(arms=len(tape), horizon=limit)
    for arm, reward in zip(trace.choices.tolist(), trace.rewards.tolist(), strict=True):
        assert not agent.done
        assert agent.ask() == arm
        agent.tell(arm, reward)
    assert agent.done
    assert agent.sure == sure
    assert agent.recommend() == trace.recommended
    assert sb.Agent.from_json(agent.to_json()).done


@given(cuts=st.lists(st.integers(0, 300), max_size=5), seed=st.integers(0, 2**64 - 1))
def test_a_state_continues_exactly(cuts, seed):
    bandit = sb.Bandit([sb.Uniform(0, 2), sb.Uniform(0.5, 1.7), sb.Bernoulli(0.3)])
    policy = sb.LUCB(L=0.1, delta=0.2, pilot_pulls=8)
    trace = sb.trace(policy, bandit, horizon=5000, seed=seed)
    agent = policy.agent(arms=["a", "b", "c"])
    for arm, reward in zip(trace.choices.tolist(), trace.rewards.tolist(), strict=True):
        if agent.t in cuts:
            text = agent.to_json()
            agent = sb.Agent.from_json(text)
            assert agent.to_json() == text
        assert agent.ask() == "abc"[arm]
        agent.tell("abc"[arm], reward)
    assert agent.done
    assert agent.recommend() == "abc"[trace.recommended]


def test_a_sure_agent_says_so():
    agent = sb.LUCB(L=0.1).agent(arms=["cash", "fund"])
    with pytest.raises(sb.InvalidInputError, match="before an arm has two rewards"):
        agent.recommend()
    generator = np.random.default_rng(0)
    while not agent.done:
        arm = agent.ask()
        agent.tell(arm, generator.normal(0.0 if arm == "cash" else 1.0, 0.2))
    assert agent.recommend() == "fund"
    before = agent.to_json()
    with pytest.raises(sb.CampaignOverError, match=r"sure of the best arm; see recommend\(\)"):
        agent.ask()
    with pytest.raises(sb.CampaignOverError, match="nothing was recorded"):
        agent.tell("fund", 1.0)
    assert agent.to_json() == before


def test_rewards_of_other_arms_are_welcome():
    """A reward that was not asked for counts; the pair that is due stays due."""
    agent = sb.LUCB(L=1.0, pilot_pulls=2).agent(arms=3)
    for _ in range(2):
        for arm in range(3):
            agent.tell(arm, 0.1 * arm + 0.5 * agent.pulls[arm])
    due = agent.ask()
    agent.cancel(due)
    other = next(arm for arm in range(3) if arm not in json.loads(agent.to_json())["pair"])
    agent.tell(other, 0.2)
    assert agent.ask() == due
    assert agent.pulls[other] == 3


@pytest.mark.parametrize("bad", [math.nan, math.inf, "1", None, 1e200])
def test_bad_rewards_change_nothing(bad):
    agent = sb.LUCB(L=1.0).agent(arms=2)
    agent.tell(agent.ask(), 1.0)
    asked = agent.ask()
    before = agent.to_json()
    with pytest.raises(sb.InvalidInputError, match="nothing was recorded"):
        agent.tell(asked, bad)
    assert agent.to_json() == before


@pytest.mark.parametrize(
    "damage",
    [{"pair": [0, 0]}, {"pair": [0, 1, 2]}, {"pair": [7]}, {"pair": []}, {"pair": None}, {"pair": ["a"]}],
)
def test_a_damaged_state_is_refused(damage):
    agent = sb.LUCB(L=1.0, pilot_pulls=2).agent(arms=3)
    for _ in range(2):
        for arm in range(3):
            agent.tell(arm, 0.1 * arm + 0.5 * agent.pulls[arm])
    state = json.loads(agent.to_json())
    assert len(state["pair"]) == 2
    with pytest.raises(sb.UnreadableDataError, match="agent"):
        sb.Agent.from_json(with_checksum(state | damage))


@pytest.mark.parametrize(("workers", "chunk"), [(1, None), (2, 1), (3, 7), (2, 1000)])
@pytest.mark.parametrize("varies", [False, True])
def test_workers_and_chunks_do_not_matter(workers, chunk, varies):
    bandit = sb.Bandit([sb.Uniform(0, 2), sb.Uniform(0.5, 1.7), sb.Beta(2, 3)])
    if varies:
        bandit = sb.RandomBandit(3, lambda g: sb.UniformArms(g.uniform(0, 0.5, 3), g.uniform(1, 2, 3)))
    policy = sb.LUCB(L=0.1, delta=0.1)
    one = identify(policy, bandit, runs=50, seed=3, max_budget=3000)
    other = identify(policy, bandit, runs=50, seed=3, max_budget=3000, workers=workers, chunk=chunk)
    for name in ("final", "recommended", "stopped", "rounds"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.error() == other.error()
    fewer = identify(policy, bandit, runs=20, seed=3, max_budget=3000)
    np.testing.assert_array_equal(fewer.final, one.final[:20])
    trace = sb.trace(policy, bandit, horizon=3000, seed=3, run=17)
    assert np.bincount(trace.choices, minlength=3).tolist() == one.final[17].tolist()
    assert trace.recommended == one.recommended[17]


@given(
    rewards=st.integers(0, 2**32 - 1),
    exponent=st.integers(-40, 40),
    risk_free=st.floats(-1, 1),
    L=st.floats(1e-3, 10),
)
def test_scale_does_not_matter(rewards, exponent, risk_free, L):
    """Rewards and rate times c, L times c squared: the same choices (c a power of 2, so that nothing is rounded)."""
    tape = np.random.default_rng(rewards).gamma([[2.0], [1.5], [1.0]], size=(3, 400)) + 0.125
    c = 2.0**exponent
    plain = sb.trace(sb.LUCB(L=L, delta=0.3, risk_free=risk_free, pilot_pulls=8), sb.Tape(tape), horizon=300)
    scaled = sb.trace(
        sb.LUCB(L=L * c * c, delta=0.3, risk_free=risk_free * c, pilot_pulls=8), sb.Tape(tape * c), horizon=300
    )
    assert scaled.choices.tolist() == plain.choices.tolist()
    assert scaled.recommended == plain.recommended


@pytest.mark.parametrize("c", [0.01, 100.0])
def test_scale_does_not_matter_on_a_bandit(c):
    plain = identify(sb.LUCB(L=0.5), sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(2.2, 7.8)]), runs=100)
    scaled = identify(
        sb.LUCB(L=0.5 * c * c), sb.Bandit([sb.Uniform(1.5 * c, 7.5 * c), sb.Uniform(2.2 * c, 7.8 * c)]), runs=100
    )
    np.testing.assert_array_equal(plain.final, scaled.final)


BANDITS = {
    "uniform": (1.0, [sb.Uniform(0.5, 13.5), sb.Uniform(3, 13.5)]),
    "five uniform": (0.75, [sb.Uniform(m - 2, m + 2 + 0.2 * m) for m in (2.5, 3, 3.5, 4, 5)]),
    "Bernoulli": (0.1, [sb.Bernoulli(0.4), sb.Bernoulli(0.5), sb.Bernoulli(0.7)]),
    "rare": (0.05, [sb.Bernoulli(0.1), sb.Bernoulli(0.03)]),
    "rare or cash": (0.05, [sb.Bernoulli(0.1), sb.Constant(0.03)]),
    "truncated normal": (0.5, [sb.TruncatedNormal(5, 4, 1, 7), sb.TruncatedNormal(4, 6.25, 1, 7)]),
    "truncated gamma": (0.5, [sb.TruncatedGamma(2, 2, 1, 10), sb.TruncatedGamma(2, 3, 1, 10)]),
    "returns": (2e-5, [sb.Normal(0.004, 2e-4), sb.Normal(0.0, 1e-4), sb.Normal(-0.002, 2e-4)]),
    "lognormal": (0.5, [scipy.stats.lognorm(0.5), scipy.stats.lognorm(0.8)]),
    "Student": (0.5, [scipy.stats.t(4, loc=0.5), scipy.stats.t(4, loc=0.1)]),
}


@pytest.mark.parametrize("delta", [0.2, 0.05])
@pytest.mark.parametrize("name", BANDITS)
def test_the_error_is_no_more_than_delta(name, delta):
    L, arms = BANDITS[name]
    found = identify(sb.LUCB(L=L, delta=delta), sb.Bandit(arms), runs=1000, seed=11)
    assert found.unfinished().mean == 0
    assert found.error().high <= delta
    assert found.error(sb.RSSR(L, signed=True)) == found.error()


@pytest.mark.parametrize(
    ("L", "arm"),
    [
        (0.5, sb.Normal(1, 1)),
        (1.0, sb.Uniform(0.5, 13.5)),
        (0.1, sb.Bernoulli(0.95)),
        (0.1, sb.Bernoulli(0.05)),
        (0.5, scipy.stats.lognorm(0.8)),
    ],
)
def test_equal_arms_are_seldom_told_apart(L, arm):
    """The hardest case: any stop would be wrong, were one of the arms better by a hair."""
    found = identify(sb.LUCB(L=L, delta=0.1), sb.Bandit([arm, arm]), runs=1000, seed=2, max_budget=5000)
    assert 1 - found.unfinished().low <= 0.1
    assert found.error().mean == 0  # a tie: either is right


def test_stopping_times_grow_as_the_square_of_the_gap_shrinks():
    times = []
    for high in (3.0, 1.5, 0.75):
        bandit = sb.Bandit([sb.Normal(5 + 0.2 * high, 1), sb.Normal(5, 1)])
        found = identify(sb.LUCB(L=20.0), bandit, runs=300)
        times.append(found.stopping_time().mean)
    for shorter, longer in pairwise(times):
        assert 3 < longer / shorter < 6  # 4, and a little for the logarithm


def test_smaller_delta_takes_longer():
    bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(2.2, 7.8)])
    times = [identify(sb.LUCB(L=0.5, delta=d), bandit, runs=300).stopping_time().mean for d in (0.5, 0.1, 0.01, 1e-6)]
    assert times == sorted(times)


def test_constant_arms():
    found = identify(sb.LUCB(L=1.0), sb.Bandit([sb.Constant(0.7), sb.Constant(1.3)]), runs=3)
    assert found.unfinished().mean == 0
    assert found.recommended[:, 0].tolist() == [1, 1, 1]
    assert found.rounds.min() > 64  # not at once: they may yet vary
    tied = identify(sb.LUCB(L=1.0), sb.Bandit([sb.Constant(1.0), sb.Constant(1.0)]), runs=3, max_budget=1000)
    assert tied.unfinished().mean == 1
    assert tied.rounds.tolist() == [1000] * 3
    assert tied.error().low == 0
    assert math.isnan(tied.error().mean)
    assert tied.quantiles() == (math.inf,) * 3
    assert "0 of 3 runs" in repr(tied)


def test_the_limit():
    bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(2.2, 7.8)])
    free = identify(sb.LUCB(L=0.5), bandit, runs=200)
    cut = identify(sb.LUCB(L=0.5), bandit, runs=200, max_budget=401)
    late = free.rounds > 401
    assert 0 < late.mean() < 1
    assert cut.unfinished().mean == pytest.approx(late.mean(), abs=0.01)
    np.testing.assert_array_equal(cut.rounds, np.minimum(free.rounds, 401))
    np.testing.assert_array_equal(cut.final[~late], free.final[~late])
    low, middle, high = free.quantiles((0.1, 0.5, 0.9))
    assert low < middle < high < math.inf
    assert (free.rounds <= middle).mean() >= 0.5
    assert (free.rounds < middle).mean() <= 0.5
    time = free.stopping_time()
    assert time.low < time.mean < time.high
    assert time.mean == pytest.approx(free.rounds.mean())


def test_bad_input_is_refused():
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 2)])
    for delta in (0, 1, -0.1, 5, math.nan, "0.05", None):
        with pytest.raises(sb.InvalidInputError, match=r"delta.*strictly between 0 and 1, got.*0.05 is usual"):
            sb.LUCB(L=1.0, delta=delta)
    for L in (0, -1, math.nan, math.inf, "1"):
        with pytest.raises(sb.InvalidInputError, match=r"L must be.*above 0, got.*regulariser"):
            sb.LUCB(L=L)
    with pytest.raises(sb.InvalidInputError, match="pilot_pulls must be a whole number at least 2, got 1"):
        sb.LUCB(L=1.0, pilot_pulls=1)
    policy = sb.LUCB(L=1.0)
    for attempt in (
        lambda: identify(policy, bandit, max_budget=63),
        lambda: sb.trace(policy, bandit, horizon=63),
        lambda: policy.agent(arms=2, horizon=63),
    ):
        with pytest.raises(sb.BudgetTooSmallError, match=r"at least 64 for 2 arms.*got 63.*pilot_pulls"):
            attempt()
    for name, value in (("runs", 0), ("seed", -1), ("max_budget", 1.5), ("workers", 0), ("chunk", 0)):
        with pytest.raises(sb.InvalidInputError, match=f"{name} must be a whole number"):
            identify(policy, bandit, **{name: value})
    with pytest.raises(sb.InvalidInputError, match=r"level must lie between 0 and 1, got 2"):
        identify(policy, bandit, runs=2).quantiles((2,))
    with pytest.raises(sb.InvalidInputError, match="objective"):
        identify(policy, bandit, runs=2).error("RSSR")


def test_a_tape_that_runs_out_is_reported():
    tape = sb.Tape(np.random.default_rng(0).normal(size=(2, 50)))
    with pytest.raises(sb.InvalidInputError, match=r"SF-LUCB pulled arm [01] more often than the tape has rewards"):
        identify(sb.LUCB(L=1.0), tape, runs=2)


def test_each_kind_of_policy_has_its_own_door():
    bandit = sb.Bandit([sb.Uniform(0, 1), sb.Uniform(0, 2)])
    with pytest.raises(sb.InvalidInputError, match=r"SF-LUCB stops on its own.*sb\.identify"):
        sb.simulate(sb.LUCB(L=1.0), bandit, horizon=1000)
    with pytest.raises(sb.InvalidInputError, match=r"UCB-RSSR does not stop on its own.*sb\.simulate"):
        identify(sb.UCBRSSR(L=1.0), bandit)
    with pytest.raises(sb.InvalidInputError, match="LUCB is a policy class"):
        identify(sb.LUCB, bandit)


def test_a_policy_is_the_same_after_a_trip_through_json():
    policy = sb.LUCB(L=0.3, delta=0.01, risk_free=0.1, pilot_pulls=40, name="mine")
    data = json.loads(json.dumps(policy.to_dict()))
    assert type(policy).from_parameters({k: v for k, v in data.items() if k != "policy"}) == policy
    assert sb.LUCB(L=1).name == "SF-LUCB"


# --- tracking the optimal allocation ----------------------------------------------------------------------------------


def test_top_two_plays_as_a_twin_in_plain_python_says():
    """Forced exploration, the hardest rival, and the balance of the best arm, written from the definition."""
    tape, L = (
        np.random.default_rng(3).gamma(2.0, 1.0, (4, 600)) * [[1.0], [1.1], [1.6], [0.5]] + [[0.9], [0.7], [0], [0]],
        0.5,
    )
    trace = sb.trace(sb.TopTwo(L=L, pilot_pulls=8, delta=1e-9), sb.Tape(tape), horizon=400)
    past, rules = [[] for _ in tape], set()
    for t in range(400):
        arm = t % 4
        if t >= 32:
            s, h, e = zip(*(_square_error(x, L) for x in past), strict=True)
            best = max(range(4), key=lambda i: h[i])
            rivals = [i for i in range(4) if i != best]
            hardest = min(rivals, key=lambda i: (h[best] - h[i]) ** 2 / (e[best] + e[i]))
            arm = best if s[best] / e[best] < sum(s[i] / e[i] for i in rivals) else hardest
            rules.add("best" if arm == best else "rival")
            if min(s) < math.sqrt(t) - 2:
                arm = s.index(min(s))
                rules.add("forced")
        assert trace.choices[t] == arm, f"round {t}"
        past[arm].append(tape[arm, len(past[arm])])
    assert rules == {"best", "rival", "forced"}


def _square_error(x, L):
    """Pulls, the signed root of RSSR, and the square of its error, from rewards."""
    s, mean = len(x), sum(x) / len(x)
    v = sum((r - mean) ** 2 for r in x) / (s - 1)
    third, fourth = (sum((r - mean) ** k for r in x) / s for k in (3, 4))
    d, share = L + v, s / (s + 10)
    drawn = share * fourth + (1 - share) * 3 * v * v
    w = v / d - mean * share * third / d**2 + mean**2 * (drawn - v * v) / (4 * d**3)
    w = max(w, 0.25 * (v / d + mean**2 * v * v / (2 * d**3)))
    return s, mean / math.sqrt(d), w * (1 + 4 * fourth / v**2 / s) * (1 + 32 / s) / s


def test_top_two_needs_fewer_rounds_with_many_arms_and_errs_no_more():
    many = sb.Bandit([sb.Bernoulli(0.6)] + [sb.Bernoulli(0.4)] * 19)
    study = sb.identify([sb.LUCB(L=0.1), sb.TopTwo(L=0.1)], many, runs=200, seed=2)
    tracked, turns = study["SF-TopTwo"], study["SF-LUCB"]
    assert tracked.stopping_time().mean < 0.9 * turns.stopping_time().mean
    assert tracked.error().mean < 0.05
    assert tracked.stopped.all()


def test_an_agent_of_top_two_asks_what_the_engine_plays():
    tape = np.random.default_rng(5).normal([[1.0], [0.7], [0.5]], 1.0, (3, 400))
    policy = sb.TopTwo(L=0.2, pilot_pulls=10)
    played = sb.trace(policy, sb.Tape(tape), horizon=300)
    agent, pulls = policy.agent(arms=3, horizon=300), [0, 0, 0]
    for t, choice in enumerate(played.choices.tolist()):
        if agent.done:
            break
        if t == 150:
            agent = sb.Agent.from_json(agent.to_json())
        assert agent.ask() == choice
        agent.tell(choice, tape[choice, pulls[choice]])
        pulls[choice] += 1
    assert t > 40
