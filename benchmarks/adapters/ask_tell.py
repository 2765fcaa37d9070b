"""Ask which arm to play, tell its reward, again and again: what a decision costs in a library.

    python ask_tell.py LIBRARY ROUNDS      prints the version, and microseconds per round (best of three) as JSON

Ten Bernoulli arms, each library's UCB or the nearest that it has, through its own interface for one decision at a time.
"""

import contextlib
import importlib.metadata
import json
import logging
import os
import random
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
ARMS = 10


def reward(rng, arm):
    return float(rng.random() < 0.05 + 0.1 * arm)


def agent(rounds, rng):
    import sharpe_bandits as sb

    agent = sb.policies.UCB1().agent(arms=ARMS, seed=1)
    return lambda: agent.tell(arm := agent.ask(), reward(rng, arm))


def campaign(rounds, rng):
    import sharpe_bandits as sb

    made = sb.Store(os.path.join(tempfile.mkdtemp(), "c.db")).campaign(
        "a", policy=sb.policies.UCB1(), arms=ARMS, seed=1
    )
    return lambda: made.tell(decision := made.ask(), reward(rng, decision.arm))


def river(rounds, rng):
    from river import bandit

    policy = bandit.UCB(delta=2, seed=1)
    arms = list(range(ARMS))
    return lambda: policy.update(arm := policy.pull(arms), reward(rng, arm))


def mabwiser(rounds, rng):
    from mabwiser.mab import MAB, LearningPolicy

    mab = MAB(list(range(ARMS)), LearningPolicy.UCB1(alpha=1.0), seed=1)
    mab.fit(list(range(ARMS)), [reward(rng, arm) for arm in range(ARMS)])

    def turn():
        arm = mab.predict()
        mab.partial_fit([arm], [reward(rng, arm)])

    return turn


def coba(rounds, rng):
    from coba.learners import BanditUCBLearner

    learner = BanditUCBLearner(seed=1)
    actions = list(range(ARMS))

    def turn():
        action, _ = learner.predict(None, actions)[:2]
        learner.learn(None, action, reward(rng, action), 1.0)

    return turn


def _optuna(storage):
    def start(rounds, rng):
        import optuna

        optuna.logging.set_verbosity(logging.ERROR)
        address = f"sqlite:///{os.path.join(tempfile.mkdtemp(), 'o.db')}" if storage else None
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1), storage=address)

        def turn():
            trial = study.ask()
            study.tell(trial, reward(rng, trial.suggest_categorical("arm", list(range(ARMS)))))

        return turn

    return start


LIBRARIES = {
    "sharpe-bandits, agent": ("sharpe-bandits", agent),
    "sharpe-bandits, campaign on SQLite": ("sharpe-bandits", campaign),
    "river": ("river", river),
    "mabwiser": ("mabwiser", mabwiser),
    "coba": ("coba", coba),
    "optuna, in memory": ("optuna", _optuna(False)),
    "optuna on SQLite": ("optuna", _optuna(True)),
}


def main(name, rounds):
    package, start = LIBRARIES[name]
    best = float("inf")
    with contextlib.redirect_stdout(sys.stderr):
        for _ in range(3):
            turn = start(rounds, random.Random(1))
            for _ in range(20):
                turn()
            began = time.perf_counter()
            for _ in range(rounds):
                turn()
            best = min(best, (time.perf_counter() - began) / rounds)
    print(json.dumps({"version": importlib.metadata.version(package), "microseconds": 1e6 * best}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
