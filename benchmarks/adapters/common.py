"""What the adapters share. An adapter is a script run in a peer's own environment: it times plain UCB1 there."""

import contextlib
import importlib.metadata
import json
import sys
import time


def measure(package, play, runs_at_a_time=1):
    """Call ``play(means, horizon, runs, seed)``, which gives the pulls of each run, for as long as allowed.

    Reads the work from the command line and prints the result, both as JSON.
    """
    work = json.loads(sys.argv[1])
    pulls, seconds = [], 0.0
    with contextlib.redirect_stdout(sys.stderr):  # some peers talk
        play(work["means"], min(200, work["horizon"]), 1, 0)
        while seconds < work["seconds"] or len(pulls) < 2:
            began = time.process_time()
            played = play(work["means"], work["horizon"], runs_at_a_time, 1 + len(pulls))
            seconds += time.process_time() - began
            pulls += [[int(p) for p in run] for run in played]
    result = {"version": importlib.metadata.version(package), "pulls": pulls, "seconds": seconds, "peak": peak()}
    print(json.dumps(result))


def peak():
    """Peak memory of this process in MiB, or None where the system does not say.

    On Linux getrusage would give the peak of the process that started this one, if that is larger.
    """
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) / 2**10 for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        pass
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
