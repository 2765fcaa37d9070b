"""Rewards counted by rounds, bandits that switch, and games in which all rewards are seen, against plain Python."""

import numpy as np
import pytest

import sharpe_bandits as sb

#: One policy per way in which kernels are put together; each is compiled anew for this clock.
POLICIES = [
    sb.UCBRSSR(L=0.5),
    sb.ModifiedMVTS(L=0.5),
    sb.ScaleFreeUCB(L=0.5),
    sb.ScaleFreeIMED(L=0.5),
    sb.ScaleFreeDirichlet(L=0.5),
    sb.SlidingWindowUCB(L=0.5, window=60),
    sb.SHSR(L=0.5),
    sb.SuRSR(L=0.5),
    sb.SuccessiveAcceptsRejects(sb.RSSR(L=0.5), m=2),
    sb.VarianceAwareHalving(sb.RSSR(L=0.5)),
]
TABLE = np.random.default_rng(7).normal(0.2, 1.0, (300, 4)) * np.array([1.0, 0.6, 1.5, 0.9])
SWITCHING = sb.SwitchingBandit(
    [[sb.Normal(1, 1), sb.Normal(0, 1)], [sb.Normal(0, 1), sb.Normal(1, 1)], [sb.Normal(0, 2), sb.Normal(-1, 1)]],
    after=[200, 500],
)


@pytest.mark.parametrize("policy", POLICIES, ids=[policy.name for policy in POLICIES])
def test_a_table_played_through_in_time_order(policy):
    """What an arm pays is what stands in its column and in the row of the round; live agents play the same game."""
    horizon = 290
    trace = sb.trace(policy, sb.Tape(TABLE.T, clock="rounds"), horizon=horizon, seed=3)
    agent = policy.agent(arms=4, horizon=horizon, seed=3)
    for t, (arm, reward) in enumerate(zip(trace.choices, trace.rewards, strict=True)):
        assert agent.ask() == arm
        assert reward == TABLE[t, arm]
        agent.tell(arm, reward)
    assert agent.recommend() == trace.recommended


def test_a_table_that_is_too_short_is_refused():
    with pytest.raises(sb.InvalidInputError, match="the tape has 300 rounds, fewer than the horizon of 301"):
        sb.simulate(sb.UCB1(), sb.Tape(TABLE.T, clock="rounds"), horizon=301, runs=2)


@pytest.mark.parametrize("policy", [sb.ScaleFreeUCB(L=0.5), sb.SHSR(L=0.5), sb.SlidingWindowUCB(L=0.5, window=100)])
@pytest.mark.parametrize(
    "bandit",
    [
        SWITCHING,
        sb.Bandit([sb.AR1(0, 1, 0.5), sb.GARCH(0.2, 1, 0.2, 0.5), sb.Uniform(0, 1)]),
        sb.Bandit([sb.AR1(0, 1, 0.5), sb.AR1(0.2, 1, 0.5)], clock="pulls"),
        sb.bootstrap(TABLE, block=5, jointly=True),
    ],
    ids=["switching", "by rounds", "by pulls", "jointly"],
)
def test_chunks_and_workers_change_nothing(policy, bandit):
    one = sb.simulate(policy, bandit, horizon=600, runs=40, seed=2, workers=1, chunk=40)
    many = sb.simulate(policy, bandit, horizon=600, runs=40, seed=2, workers=2, chunk=7)
    a, b = one[policy.name], many[policy.name]
    for name in ("pulls", "final", "recommended", "reward_mean", "reward_variance"):
        assert (getattr(a, name) == getattr(b, name)).all()
    trace = sb.trace(policy, bandit, horizon=600, seed=2, run=11)
    assert (np.bincount(trace.choices, minlength=bandit.K) == a.final[11]).all()
    assert trace.rewards.mean() == pytest.approx(a.reward_mean[11], rel=1e-12)
    assert trace.rewards.var(ddof=1) == pytest.approx(a.reward_variance[11], rel=1e-9)


def test_regret_is_against_the_arm_that_is_best_at_the_time():
    objective = sb.RSSR(L=0.5, signed=True)
    study = sb.simulate(sb.ScaleFreeUCB(L=0.5), SWITCHING, horizon=700, runs=5, seed=1, checkpoints=[100, 350])
    curve = study["SF-UCB"].regret(objective)
    assert curve.t.tolist() == [100, 200, 350, 500, 700]
    # Values by hand: 1/1.5 and 0; the same exchanged; 0 and -1/1.5.
    gaps = np.array([[0, 1 / 1.5], [1 / 1.5, 0], [0, 1 / 1.5]])
    totals = []
    for run in range(5):
        choices = sb.trace(sb.ScaleFreeUCB(L=0.5), SWITCHING, horizon=700, seed=1, run=run).choices
        stretch = np.array([0] * 200 + [1] * 300 + [2] * 200)
        totals.append(np.cumsum(gaps[stretch, choices])[curve.t - 1])
    assert curve.mean == pytest.approx(np.mean(totals, axis=0), rel=1e-12)
    assert study["SF-UCB"].regret_per_run(objective) == pytest.approx(np.array(totals)[:, -1], rel=1e-12)
    plays = study["SF-UCB"].suboptimal_plays(objective)
    assert plays.mean[-1] == pytest.approx(np.mean(totals, axis=0)[-1] * 1.5, rel=1e-12)
    # In the end the first arm is best.
    wrong = study["SF-UCB"].recommended[:, 0] != 0
    assert study["SF-UCB"].error(objective).mean == wrong.mean()


def test_a_study_of_switching_arms_is_saved_whole(tmp_path):
    study = sb.simulate([sb.ScaleFreeUCB(L=0.5), sb.UCB1()], SWITCHING, horizon=700, runs=300, seed=1)
    study.save(tmp_path)
    again = sb.load(tmp_path)
    assert (again["SF-UCB"].regret().mean == study["SF-UCB"].regret().mean).all()
    assert again["SF-UCB"].switches == (200, 500)
    with pytest.raises(sb.InvalidInputError, match="kept in batches of 2; simulate at most 256 runs"):
        again["SF-UCB"].regret_per_run()


@pytest.mark.parametrize(
    ("bandits", "after", "message"),
    [
        ([[sb.Normal(0, 1), sb.Normal(1, 1)]], [], "at least two bandits"),
        ([[sb.Normal(0, 1), sb.Normal(1, 1)]] * 3, [10], "3 bandits and after=.10."),
        ([[sb.Normal(0, 1), sb.Normal(1, 1)]] * 3, [20, 10], "after must rise"),
        ([[sb.Normal(0, 1)] * 2, [sb.Normal(1, 1)] * 3], [20], r"same number of arms, got \[2, 3\]"),
        ([sb.bootstrap(TABLE, block=2, jointly=True)] * 2, [20], "jointly=True cannot be switched between"),
    ],
)
def test_bad_switches(bandits, after, message):
    with pytest.raises(sb.InvalidInputError, match=message):
        sb.SwitchingBandit(bandits, after)


@pytest.mark.parametrize(("bandits", "after"), [(None, [1]), ([[sb.Normal(0, 1)] * 2] * 2, 5)])
def test_switches_must_be_lists(bandits, after):
    with pytest.raises(sb.InvalidInputError, match=r"(bandits|after) must be a list, got"):
        sb.SwitchingBandit(bandits, after)


def test_a_kernel_that_cannot_play_is_refused():
    tape = sb.Tape(TABLE.T, clock="rounds")
    for policy, feedback in ((sb.UCBRSSR(L=1), "full"), (sb.SlidingWindowUCB(L=1, window=60), "bandit")):
        with pytest.raises(sb.InvalidInputError, match="the side by side kernel does not play"):
            sb.trace(policy, tape, horizon=100, kernel="side by side", feedback=feedback)


def test_a_switch_past_the_horizon_is_refused():
    with pytest.raises(sb.InvalidInputError, match="change after round 500, but the horizon is 500"):
        sb.simulate(sb.UCB1(), SWITCHING, horizon=500, runs=2)


def test_with_full_feedback_the_rewards_of_all_arms_are_seen():
    """Greedy on the mean: it plays the column with the largest mean so far, after two rounds of looking."""

    @sb.index_policy(name="follow the leader")
    def follow(arm, t):
        return arm.mean

    trace = sb.trace(follow(), sb.Tape(TABLE.T, clock="rounds"), horizon=300, feedback="full")
    assert trace.choices[:2].tolist() == [0, 1]
    assert trace.choices[2:].tolist() == [int(TABLE[:t].mean(axis=0).argmax()) for t in range(2, 300)]
    assert trace.recommended == np.bincount(trace.choices).argmax()  # it names no objective: the arm played most
    assert (trace.rewards == TABLE[np.arange(300), trace.choices]).all()


def test_full_feedback_on_arms_that_are_counted_by_pulls():
    """Every arm moves on in every round: round t pays what the t-th pull would."""
    bandit = sb.Bandit([sb.Normal(0, 1), sb.Normal(0.5, 1)])
    paths = [sb.trace(sb.RoundRobin(), bandit, horizon=400, seed=9)]
    pays = [paths[0].rewards[paths[0].choices == arm] for arm in (0, 1)]
    trace = sb.trace(sb.ScaleFreeUCB(L=0.5), bandit, horizon=200, seed=9, feedback="full")
    assert [pays[arm][t] for t, arm in enumerate(trace.choices)] == trace.rewards.tolist()


def test_budgets_mean_nothing_with_full_feedback():
    with pytest.raises(sb.InvalidInputError, match="SHSR shares out a budget of pulls"):
        sb.simulate(sb.SHSR(L=0.5), sb.Tape(TABLE.T, clock="rounds"), horizon=200, runs=1, feedback="full")
    with pytest.raises(sb.InvalidInputError, match="feedback must be one of"):
        sb.simulate(sb.UCB1(), sb.Tape(TABLE.T, clock="rounds"), horizon=200, runs=1, feedback="half")
