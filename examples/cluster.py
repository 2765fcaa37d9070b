"""A study on a cluster: SLURM through dask-jobqueue, a scheduler that runs already, or processes of this machine.

    python examples/cluster.py                              # two processes of this machine
    python examples/cluster.py --scheduler tcp://host:8786  # a cluster that runs already
    python examples/cluster.py --slurm --jobs 20            # needs dask-jobqueue; run it on a login node

The digest that it prints is the same everywhere.
"""

import argparse
import hashlib

import sharpe_bandits as sb


@sb.index_policy(name="Cautious")
def cautious(arm, t, L):
    return arm.mean**2 / (L + arm.variance) + arm.epsilon


def cluster_of(options):
    """What the options describe, as something that a Dask client connects to."""
    if options.scheduler:
        return options.scheduler
    if options.slurm:
        from dask_jobqueue import SLURMCluster

        # One job is one node's worth of workers; each worker has one thread, since a chunk uses one.
        cluster = SLURMCluster(cores=16, processes=16, memory="32GB", walltime="01:00:00")
        cluster.scale(jobs=options.jobs)
        return cluster
    from distributed import LocalCluster

    return LocalCluster(n_workers=options.jobs, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0")


def main():
    parser = argparse.ArgumentParser(description="A study on a cluster.")
    parser.add_argument("--scheduler", help="address of a scheduler that runs already")
    parser.add_argument("--slurm", action="store_true", help="ask SLURM for workers")
    parser.add_argument("--jobs", type=int, default=2, help="jobs of SLURM, or processes of this machine")
    parser.add_argument("--runs", type=int, default=2000)
    options = parser.parse_args()

    from distributed import Client

    bandit = sb.Bandit([sb.Uniform(1.5, 7.5), sb.Uniform(1.6, 7.8)])
    with Client(cluster_of(options)) as client:
        policies = [sb.UCBRSSR(L=0.5), cautious(L=0.5)]
        study = sb.simulate(policies, bandit, horizon=10_000, runs=options.runs, seed=1, executor=client)
    print(study.summary(sb.RSSR(L=0.5)))
    pulls = b"".join(result.pulls.tobytes() for result in study.values())
    print("digest of all pulls:", hashlib.sha256(pulls).hexdigest()[:16])
    print("computed on:", *(f"{kind['processor']} ({kind['arithmetic']})" for kind in study.settings["machines"]))


if __name__ == "__main__":  # workers that are started afresh import this file
    main()
