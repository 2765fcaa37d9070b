"""One way to ask and tell durably, in an environment that has it: ``durable_ask_tell.py WHICH PATH run|time|check|serve``.

``run`` prints a line per acknowledgement until it is killed, ``check`` prints what is there afterwards, and ``time``
prints seconds per ask and tell and per two bare commits of the same disk, in turn. ``serve`` is a plain web service.
"""

import json
import os
import pickle
import random
import sqlite3
import statistics
import sys
import time

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


class SharpeBandits:
    """A campaign on SQLite."""

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

    def __init__(self, path):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        sampler = optuna.samplers.RandomSampler()
        self.study = optuna.create_study(
            study_name="load", storage=self.storage(optuna, path), load_if_exists=True, sampler=sampler
        )
        self.trials = {}

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


class OptunaJournal(Optuna):
    """The same with its journal in a file."""

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
    "bare": Bare, "sharpe-bandits": SharpeBandits, "optuna": Optuna, "optuna-journal": OptunaJournal, "vizier": Vizier,
    "mabwiser": MabwiserPickle,
}  # fmt: skip


def serve(path):
    """A plain FastAPI service with a commit per request, whose answers have the form that the load generator reads."""
    import threading

    import uvicorn
    from fastapi import Body, FastAPI

    app, way, lock = FastAPI(), Bare(path), threading.Lock()

    @app.post("/api/campaigns/load/decisions")
    def ask(body: dict = Body()):  # noqa: B008
        with lock:
            return {"decisions": [{"number": way.ask()}]}

    @app.post("/api/campaigns/load/rewards")
    def tell(body: dict = Body()):  # noqa: B008
        (one,) = body["rewards"]
        with lock:
            way.tell(one["decision"], one["reward"])
        return {"recorded": 1}

    uvicorn.run(app, port=int(sys.argv[4]), log_level="error")


def main():
    which, path, mode = sys.argv[1:4]
    if mode == "serve":
        serve(path)
        return
    way = WAYS[which](path)
    if mode == "check":
        print(json.dumps({str(number): reward for number, reward in way.read().items()}))
    elif mode == "run":
        while True:
            number, reward = way.ask(), random.random()
            print("A", number, flush=True)
            way.tell(number, reward)
            print("T", number, repr(reward), flush=True)
    else:
        bare, pairs, commits = Bare(f"{path}.bare"), [], []
        for turn in range(int(sys.argv[4])):
            begin = time.perf_counter()
            way.tell(way.ask(), random.random())
            middle = time.perf_counter()
            bare.tell(bare.ask(), 0.5)
            if turn >= 10:
                pairs.append(middle - begin)
                commits.append(time.perf_counter() - middle)
        print(json.dumps([statistics.median(pairs), statistics.median(commits)]))


if __name__ == "__main__":
    main()
