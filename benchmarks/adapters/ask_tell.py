"""One way to ask and tell, in an environment that has it: ``ask_tell.py WAY PATH time ROUNDS|ratio PAIRS|run|check``.

``time`` prints the version and microseconds per ask and tell (best of three) as JSON, ``ratio`` medians of seconds per ask
and tell and per two bare commits of the same disk, in turn. ``run`` prints a line per acknowledgement until it is killed,
and ``check`` what is there afterwards.
"""

import contextlib
import importlib.metadata
import json
import os
import pickle
import random
import sqlite3
import statistics
import sys
import time
import warnings

warnings.filterwarnings("ignore")
ARMS = [f"arm {k}" for k in range(10)]


class Bare:
    """Two commits of one row each, and no policy."""

    def __init__(self, path):
        self.file = sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)
        self.file.execute("PRAGMA journal_mode=WAL")
        self.file.execute("PRAGMA synchronous=FULL")
        self.file.execute("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, reward REAL)")

    def ask(self):
        return self.file.execute("INSERT INTO rows (reward) VALUES (NULL)").lastrowid

    def tell(self, number, reward):
        self.file.execute("UPDATE rows SET reward = ? WHERE id = ?", (reward, number))

    def read(self):
        return dict(self.file.execute("SELECT id, reward FROM rows"))


class Agent:
    """An agent in memory; what follows an ask is its arm."""

    package = "sharpe-bandits"

    def __init__(self, path):
        import sharpe_bandits as sb

        self.agent = sb.policies.UCB1().agent(arms=ARMS, seed=1)
        self.ask, self.tell = self.agent.ask, self.agent.tell


class River:
    package = "river"

    def __init__(self, path):
        from river import bandit

        self.policy = bandit.UCB(delta=2, seed=1)
        self.tell = self.policy.update

    def ask(self):
        return self.policy.pull(ARMS)


class Mabwiser:
    package = "mabwiser"

    def __init__(self, path):
        from mabwiser.mab import MAB, LearningPolicy

        self.mab = MAB(ARMS, LearningPolicy.UCB1(alpha=1.0), seed=1)
        self.mab.fit(ARMS, [0.5] * len(ARMS))
        self.ask = self.mab.predict

    def tell(self, arm, reward):
        self.mab.partial_fit([arm], [reward])


class Coba:
    package = "coba"

    def __init__(self, path):
        from coba.learners import BanditUCBLearner

        self.learner = BanditUCBLearner(seed=1)

    def ask(self):
        return self.learner.predict(None, ARMS)[0]

    def tell(self, arm, reward):
        self.learner.learn(None, arm, reward, 1.0)


class SharpeBandits:
    """A campaign on SQLite."""

    package = "sharpe-bandits"

    def __init__(self, path):
        import sharpe_bandits as sb

        self.campaign = sb.Store(path).campaign("load", policy=sb.policies.UCB1(), arms=ARMS)

    def ask(self):
        return self.campaign.ask().number

    def tell(self, number, reward):
        self.campaign.tell(number, reward)

    def read(self):
        return {row["number"]: row["reward"] for row in self.campaign.history().to_pylist()}


class Optuna:
    """A study on SQLite, by the random sampler, which is its fastest."""

    package = "optuna"

    def __init__(self, path):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.study = optuna.create_study(
            study_name="load", storage=self.storage(optuna, path), load_if_exists=True, sampler=self.sampler(optuna),
            direction="maximize",
        )  # fmt: skip
        self.trials = {}

    def sampler(self, optuna):
        return optuna.samplers.RandomSampler()

    def storage(self, optuna, path):
        return f"sqlite:///{path}"

    def ask(self):
        trial = self.study.ask()
        trial.suggest_categorical("arm", ARMS)
        self.trials[trial.number] = trial
        return trial.number

    def tell(self, number, reward):
        self.study.tell(self.trials.pop(number), reward)

    def read(self):
        return {trial.number: trial.value for trial in self.study.get_trials()}


class OptunaTPE(Optuna):
    """The same by its default sampler."""

    def sampler(self, optuna):
        return optuna.samplers.TPESampler(seed=1)


class OptunaInMemory(OptunaTPE):
    def storage(self, optuna, path):
        return None


class OptunaJournal(Optuna):
    """By the random sampler, with its journal in a file."""

    def storage(self, optuna, path):
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        return JournalStorage(JournalFileBackend(path))


class Vizier:
    """A study of OSS Vizier, by random search, its server in this process with its database in a file."""

    def __init__(self, path):
        from vizier.service import clients, servers
        from vizier.service import pyvizier as vz

        server = servers.DefaultVizierServer(database_url=f"sqlite:///{path}")
        clients.environment_variables.server_endpoint = server.endpoint
        self.server = server
        problem = vz.ProblemStatement()
        problem.search_space.root.add_categorical_param("arm", ARMS)
        problem.metric_information.append(vz.MetricInformation("reward", goal=vz.ObjectiveMetricGoal.MAXIMIZE))
        config = vz.StudyConfig.from_problem(problem)
        config.algorithm = "RANDOM_SEARCH"
        self.vz, self.worker = vz, f"worker {os.getpid()}"
        self.study = clients.Study.from_study_config(config, owner="me", study_id="load")
        self.trials = {}

    def ask(self):
        (trial,) = self.study.suggest(count=1, client_id=self.worker)
        self.trials[trial.id] = trial
        return trial.id

    def tell(self, number, reward):
        self.trials.pop(number).complete(self.vz.Measurement({"reward": reward}))

    def read(self):
        found = {}
        for trial in self.study.trials().get():
            measured = trial.final_measurement
            found[trial.id] = None if measured is None else measured.metrics["reward"].value
        return found


class MabwiserPickle:
    """mabwiser's UCB1; the object and a log of rewards are pickled after every step, synced and renamed."""

    def __init__(self, path):
        from mabwiser.mab import MAB, LearningPolicy

        self.path = path
        if os.path.exists(path):
            with open(path, "rb") as file:
                self.mab, self.rows = pickle.load(file)
        else:
            self.mab, self.rows = MAB(ARMS, LearningPolicy.UCB1()), {}
            self.mab.fit(ARMS, [0.5] * len(ARMS))

    def save(self):
        with open(f"{self.path}.{os.getpid()}", "wb") as file:
            pickle.dump((self.mab, self.rows), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{self.path}.{os.getpid()}", self.path)

    def ask(self):
        number = len(self.rows) + 1
        self.rows[number] = self.mab.predict(), None
        self.save()
        return number

    def tell(self, number, reward):
        arm = self.rows[number][0]
        self.mab.partial_fit([arm], [reward])
        self.rows[number] = arm, reward
        self.save()

    def read(self):
        return {number: reward for number, (_, reward) in self.rows.items()}


WAYS = {
    "bare": Bare, "agent": Agent, "sharpe-bandits": SharpeBandits, "river": River, "mabwiser": Mabwiser, "coba": Coba,
    "optuna": Optuna, "optuna-memory": OptunaInMemory, "optuna-tpe": OptunaTPE, "optuna-journal": OptunaJournal,
    "vizier": Vizier, "mabwiser-pickle": MabwiserPickle,
}  # fmt: skip


def turns(way, rounds):
    """Ask and tell, again and again; gives seconds per round."""
    begin = time.perf_counter()
    for _ in range(rounds):
        way.tell(way.ask(), float(random.random() < 0.5))
    return (time.perf_counter() - begin) / rounds


def best_of_three(way, path, rounds):
    times = []
    for k in range(3):
        fresh = WAYS[way](f"{path}.{k}")
        turns(fresh, 20)
        times.append(turns(fresh, rounds))
    return {"version": importlib.metadata.version(fresh.package), "microseconds": 1e6 * min(times)}


def in_turn(way, path, pairs):
    ours, bare = WAYS[way](path), Bare(f"{path}.bare")
    seconds = [(turns(ours, 1), turns(bare, 1)) for _ in range(pairs)][10:]
    return [statistics.median(column) for column in zip(*seconds, strict=True)]


def run(way):
    while True:
        number, reward = way.ask(), random.random()
        print("A", number, flush=True)
        way.tell(number, reward)
        print("T", number, repr(reward), flush=True)


def main():
    which, path, mode = sys.argv[1:4]
    if mode == "run":
        run(WAYS[which](path))
    with contextlib.redirect_stdout(sys.stderr):  # some libraries talk
        if mode == "check":
            result = {str(number): reward for number, reward in WAYS[which](path).read().items()}
        else:
            result = {"time": best_of_three, "ratio": in_turn}[mode](which, path, int(sys.argv[4]))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
