"""UCB-RSSR and UCB-SR-like: choices and indices worked out by hand."""

import numpy as np
import pytest

import sharpe_bandits as sb
from sharpe_bandits.play.statistics import ArmRecord, radius


def test_an_index_that_may_fall_really_falls():
    """The reason for the fallback, by hand: SR-like with L = 1, s = 100, X = -10, V = 0, so D = 1.

    X/D + (D + X + 2 eps) eps / (D (D - 3 eps)): at N = 100 eps = 0.3035 and 1 - 3 eps = 0.0896, so the index is
    -10 + (-9 + 0.607) 0.3035 / 0.0896 = -38.4; at N = 110 eps = 0.3066 and 1 - 3 eps = 0.0802, so it is
    -10 - 8.387 x 0.3066 / 0.0802 = -42.1: less, though the record stands still.
    """
    policy = sb.UCBSRLike(L=1.0)
    still = ArmRecord(pulls=100, mean=-10, variance=0, second_moment=100, epsilon=0, last=0, key=0, round_key=0)
    values = [policy.formula(still._replace(epsilon=radius(t) / 10.0), t, *policy.arguments(110)) for t in (100, 110)]
    assert values == pytest.approx([-38.4, -42.1], abs=0.1)


def test_ucb_rssr_by_hand():
    """Two arms, two pulls each, then three rounds; L = 5, every number worked out with pencil and paper.

    N = 4. eps = sqrt(2 ln 4 / 2) = 1.17741 for both.
      Arm 0: rewards 1, 3: X = 2, X2 = 5, V = 2, D = 7, D - 3 eps = 3.46777:
             4/7 + (2 + 5 + 2.35482 + 5) 1.17741 / (7 x 3.46777) = 0.57143 + 0.69627 = 1.2677
      Arm 1: rewards 2, 2: X = 2, X2 = 4, V = 0, D = 5, D - 3 eps = 1.46777:
             4/5 + (0 + 4 + 2.35482 + 5) 1.17741 / (5 x 1.46777) = 0.8 + 1.82170 = 2.6217        -> arm 1, pays 8
    N = 5. Arm 0: eps = sqrt(2 ln 5 / 2) = 1.26864, D - 3 eps = 3.19409:
             0.57143 + (7 + 2.53727 + 5) 1.26864 / (7 x 3.19409) = 0.57143 + 0.82484 = 1.3963
           Arm 1: rewards 2, 2, 8: X = 4, X2 = 24, V = 12, D = 17, eps = sqrt(2 ln 5 / 3) = 1.03584,
             D - 3 eps = 13.89248:
             16/17 + (12 + 24 + 2.07168 + 5) 1.03584 / (17 x 13.89248) = 0.94118 + 0.18891 = 1.1301 -> arm 0, pays 2
    N = 6. Arm 0: rewards 1, 3, 2: X = 2, X2 = 14/3, V = 1, D = 6, eps = sqrt(2 ln 6 / 3) = 1.09294,
             D - 3 eps = 2.72118:
             4/6 + (1 + 4.66667 + 2.18588 + 5) 1.09294 / (6 x 2.72118) = 0.66667 + 0.86036 = 1.5270
           Arm 1: eps = 1.09294, D - 3 eps = 13.72118:
             0.94118 + (41 + 2.18588) 1.09294 / (17 x 13.72118) = 0.94118 + 0.20235 = 1.1435     -> arm 0, pays 5
    """
    tape = sb.Tape([[1, 3, 2, 5, 1, 1], [2, 2, 8, 1, 1, 1]])
    trace = sb.trace(sb.UCBRSSR(L=5.0), tape, horizon=7)
    assert trace.choices.tolist() == [0, 1, 0, 1, 1, 0, 0]
    assert trace.rewards.tolist() == [1, 2, 3, 2, 8, 2, 5]


def test_infinite_indices_by_hand():
    """L = 0.1 and hardly any variance: D <= 3 eps throughout, so the least pulled arm is played, the lowest first."""
    tape = sb.Tape(np.full((3, 20), 0.25) + np.arange(20) * 1e-3)
    trace = sb.trace(sb.UCBRSSR(L=0.1, pilot_pulls=2), tape, horizon=13)
    assert trace.choices.tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]


def test_the_width_as_printed_starves_an_arm_that_the_infinite_rule_plays():
    """Where D <= 3 eps the printed term is negative: that arm is shunned, the paper's slip that the default repairs.

    N = 4, eps = 1.17741, L = 1. Arm 0 (rewards 0, 6: V = 18, D = 19) has a positive term; arm 1 (rewards 3, 3: V = 0,
    D = 1 < 3.53) has 9 + (9 + 2.35 + 1) 1.17741 / (1 - 3.53) = 9 - 5.74 = 3.26 against
    9/19 + (18 + 18 + 2.35 + 1) 1.17741 / (19 x 15.47) = 0.47 + 0.16 = 0.63 for arm 0. With mean 1 in place of 3 it has
    1 + (1 + 2.35 + 1) 1.17741 / (-2.53) = -1.02: it is passed over, though nothing is known of it.
    """
    tape = sb.Tape([[0, 6, 3, 3, 3], [1, 1, 1, 1, 1]])
    assert sb.trace(sb.UCBRSSR(L=1.0, undefined_width="printed"), tape, horizon=5).choices[-1] == 0
    assert sb.trace(sb.UCBRSSR(L=1.0), tape, horizon=5).choices[-1] == 1
    tape = sb.Tape([[0, 6, 3, 3, 3], [3, 3, 3, 3, 3]])
    assert sb.trace(sb.UCBRSSR(L=1.0, undefined_width="printed"), tape, horizon=5).choices[-1] == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: sb.policies.UUCB(epsilon0=1.0, sign="less"),
        lambda: sb.policies.UUCB(epsilon0=1.0, sign="minus", undefined="nan"),
        lambda: sb.policies.ModifiedGRAUCB(L=1.0, ddof=0),
        lambda: sb.UCBRSSR(L=1.0, ddof=2),
        lambda: sb.UCBSRLike(L=1.0, first_term="V"),
    ],
)
def test_readings_that_do_not_exist_are_refused(make):
    with pytest.raises(sb.errors.InvalidInputError):
        make()


@pytest.mark.parametrize("undefined", ["infinite", "absolute", "barred"])
def test_the_printed_minus_of_u_ucb_by_every_kernel(undefined):
    """Arms with variances on both sides of epsilon0: indices are finite, infinite and, barred, minus infinity."""
    bandit = sb.Bandit([sb.Uniform(0, 6), sb.Uniform(0, 5), sb.Uniform(1, 3)])
    policy = sb.policies.UUCB(epsilon0=2.5, sign="minus", undefined=undefined)
    kernels = ("reference", "side by side")
    one, *others = (sb.trace(policy, bandit, horizon=400, seed=4, kernel=kernel).choices.tolist() for kernel in kernels)
    assert all(other == one for other in others)


def test_a_description_may_name_a_reading():
    from sharpe_bandits.experiments.description import cases

    (case,) = cases(
        {
            "horizon": 100,
            "arms": [{"kind": "Uniform", "low": [0, 0], "high": [1, 2]}],
            "objective": {"kind": "RSSR", "L": 1},
            "policies": [{"kind": "UUCB", "epsilon0": 1, "sign": "minus", "undefined": "barred"}],
        }
    )
    assert case.policies == (sb.policies.UUCB(epsilon0=1.0, sign="minus", undefined="barred"),)
