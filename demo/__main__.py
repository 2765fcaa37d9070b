"""Run the demo: ``python -m demo [--store FILE] [--port PORT]``; Ctrl-C ends it."""

import argparse
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import sharpe_bandits as sb

#: Workers per campaign.
WORKERS = 4
#: Campaigns: policy, arms with mean and standard deviation of a reward, other settings, seconds between decisions of
#: a worker.
CAMPAIGNS = {
    "desks": (
        sb.ScaleFreeUCB(L=1e-5),
        {"momentum": (0.004, 0.01), "carry": (0.0006, 0.006), "value": (0.0003, 0.009), "cash": (0.0001, 0.002)},
        {"lease": "20 seconds", "explore": 0.1},
        0.1,
    ),
    "execution venues": (
        sb.ScaleFreeUCB(L=0.02),
        {f"venue {k}": (0.1 + 0.05 * (k % 7), 0.5 + 0.1 * (k % 3)) for k in range(1, 13)},
        {"lease": "1 minute"},
        0.1,
    ),
    "fund search": (
        sb.policies.SequentialHalving(sb.RSSR(L=1e-5, signed=True)),
        {f"fund {k}": (0.0002 * k, 0.01) for k in range(1, 9)},
        {"horizon": 20_000},
        0.1,
    ),
}


def work(url: str, token: str, name: str, stop: threading.Event) -> None:
    """Ask and tell until stopped; one decision in fifty is forgotten, and expires."""
    _, arms, _, pause = CAMPAIGNS[name]
    campaign = sb.connect(url, token=token).campaign(name)
    chance = random.Random()
    while not stop.wait(chance.expovariate(1 / pause)):
        try:
            decision = campaign.ask(worker=f"{name} worker")
            stop.wait(chance.expovariate(4.0))
            if chance.random() > 0.02 or name == "fund search":
                campaign.tell(decision, chance.gauss(*arms[decision.arm]))
        except sb.errors.WaitForRewardsError:
            stop.wait(1.0)
        except (sb.errors.CampaignOverError, sb.errors.StoreError):
            return


def answers(url: str) -> bool:
    """Whether the service is up."""
    try:
        return urllib.request.urlopen(f"{url}/health", timeout=5).status == 200
    except OSError:
        return False


def main() -> int:
    """Run until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="demo", description=__doc__)
    parser.add_argument("--store", type=Path, help="file of the store (a temporary one)")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory(prefix="sharpe-bandits-demo-") as folder:
        path = options.store or Path(folder) / "demo.db"
        with sb.Store(path) as store:
            for name, (policy, arms, settings, _) in CAMPAIGNS.items():
                store.campaign(name, policy=policy, arms=list(arms), seed=1, **settings)
        tokens = {access: secrets.token_urlsafe(32) for access in ("read", "write")}
        file = Path(folder) / "tokens.toml"
        file.touch(0o600)
        file.write_text(
            "".join(f'[{access}]\ntoken = "{token}"\naccess = "{access}"\n' for access, token in tokens.items())
        )
        command = [sys.executable, "-m", "sharpe_bandits", "serve", str(path), "--port", str(options.port)]
        server = subprocess.Popen([*command, "--token-file", str(file)])
        stop = threading.Event()
        url = f"http://127.0.0.1:{options.port}"
        workers = [
            threading.Thread(target=work, args=(url, tokens["write"], name, stop))
            for name in CAMPAIGNS
            for _ in range(WORKERS)
        ]
        try:
            while server.poll() is None and not answers(url):
                time.sleep(0.2)
            for worker in workers:
                worker.start()
            print(f"Open {url} and sign in with one of these tokens. Ctrl-C ends the demo.", flush=True)
            print(f"  to look:          {tokens['read']}\n  to look and act:  {tokens['write']}", flush=True)
            return server.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            stop.set()
            server.terminate()
            server.wait()
            for worker in workers:
                worker.join()


if __name__ == "__main__":
    sys.exit(main())
