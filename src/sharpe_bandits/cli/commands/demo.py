"""``sharpe-bandits demo``: simulated campaigns and the dashboard on them; on this machine only, without tokens."""

from __future__ import annotations

import argparse
import random
import secrets
import tempfile
import threading
from pathlib import Path
from typing import Any

from ...errors import SharpeBanditsError
from ...live.campaigns import Campaign, Store
from ...policies import ScaleFreeUCB
from .serve import require_libraries

#: Workers per campaign.
WORKERS = 4
#: Seconds between decisions of a worker.
PAUSE = 0.1
#: Campaigns: policy, arms with mean and standard deviation of a reward, other settings.
CAMPAIGNS: dict[str, Any] = {
    "desks": (
        ScaleFreeUCB(L=1e-5),
        {"momentum": (0.004, 0.01), "carry": (0.0006, 0.006), "value": (0.0003, 0.009), "cash": (0.0001, 0.002)},
        {"lease": "20 seconds", "explore": 0.1},
    ),
    "execution venues": (
        ScaleFreeUCB(L=0.02),
        {f"venue {k}": (0.1 + 0.05 * (k % 7), 0.5 + 0.1 * (k % 3)) for k in range(1, 13)},
        {"lease": "1 minute"},
    ),
}


def add(demo: argparse.ArgumentParser) -> None:
    demo.add_argument("--store", type=Path, help="file of the store (a temporary one)")
    demo.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")
    demo.set_defaults(do=_demo)


def _work(campaign: Campaign, stop: threading.Event) -> None:
    """Ask and tell until stopped; one decision in fifty is forgotten, and expires."""
    _, arms, _ = CAMPAIGNS[campaign.name]
    chance = random.Random()
    while not stop.wait(chance.expovariate(1 / PAUSE)):
        try:
            decision = campaign.ask(worker=f"{campaign.name} worker")
            stop.wait(chance.expovariate(4.0))
            if chance.random() > 0.02:
                campaign.tell(decision, chance.gauss(*arms.get(decision.arm, (0.0, 0.01))))  # one may be new
        except SharpeBanditsError:  # a busy machine, or a campaign that was paused in the dashboard
            stop.wait(1.0)


def _demo(options: argparse.Namespace) -> int:
    require_libraries("the demonstration")
    from ...service.app import create_app
    from ...service.observability import configure_log
    from ...service.security import WRITE, Token
    from ...service.server import run

    configure_log("error")
    stop = threading.Event()
    with tempfile.TemporaryDirectory(prefix="sharpe-bandits-demo-") as folder:
        store = Store(options.store or Path(folder) / "demo.db")
        campaigns = [
            store.campaign(name, policy=policy, arms=list(arms), seed=1, **settings)
            for name, (policy, arms, settings) in CAMPAIGNS.items()
        ]
        app = create_app(store, [], visitor=Token.of("visitor", WRITE, secrets.token_urlsafe()))

        def started(url: str) -> None:
            print(f"Open {url} (Ctrl-C ends the demonstration)", flush=True)
            for campaign in campaigns * WORKERS:
                threading.Thread(target=_work, args=(campaign, stop), daemon=True).start()

        try:
            return run(app, "127.0.0.1", options.port, started)
        finally:
            stop.set()
