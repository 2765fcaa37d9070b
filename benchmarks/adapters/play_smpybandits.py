"""UCB1 by SMPyBandits, through its Evaluator."""

import warnings

warnings.filterwarnings("ignore")

import matplotlib  # noqa: E402

matplotlib.use("Agg")

from common import measure  # noqa: E402
from SMPyBandits.Arms import Bernoulli  # noqa: E402
from SMPyBandits.Environment import Evaluator  # noqa: E402
from SMPyBandits.Policies import UCB  # noqa: E402


def play(means, horizon, runs, seed):
    evaluator = Evaluator(
        {
            "horizon": horizon,
            "repetitions": runs,
            "n_jobs": 1,
            "verbosity": 0,
            "environment": [{"arm_type": Bernoulli, "params": means}],
            "policies": [{"archtype": UCB, "params": {}}],
        }
    )
    evaluator.startAllEnv()
    return evaluator.lastPulls[0][0].T


measure("SMPyBandits", play, runs_at_a_time=4)
