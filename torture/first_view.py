"""How long a person waits for a campaign of a million decisions: ``python -m torture.first_view [--starts 3]``.

Starts the service, and signs a browser in at the campaign's page as soon as the address is printed; takes the time from
the click to the last figure, and of later views from the request to the last figure. ``--store`` keeps the store, whose
making takes minutes.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import sharpe_bandits as sb

ARMS = [f"arm {k}" for k in range(10)]
_FIGURES = "document.querySelectorAll('figure svg.chart').length === 7"


def fill(path: Path, decisions: int) -> None:
    """A campaign of so many decisions, all rewarded."""
    generator = np.random.default_rng(1)
    with sb.Store(path, synchronous="NORMAL") as store:
        campaign = store.campaign("million", policy=sb.ScaleFreeUCB(L=1e-4), arms=ARMS, seed=1, lease="1 day")
        while (left := decisions - campaign.status().decisions) > 0:
            batch = campaign.ask(count=min(5000, left))
            campaign.tell_many({one: float(generator.normal(0.0005 * ARMS.index(one.arm), 0.02)) for one in batch})


def seconds_until_drawn(page: Any, begin: float) -> float:
    """Seconds since ``begin`` until all figures are there."""
    while not page.evaluate(_FIGURES):
        time.sleep(0.005)
    return time.perf_counter() - begin


def look(path: Path, browser: Any) -> tuple[float, float, float]:
    """Seconds from the start of a service to its address, to the first view, and to a later one."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "sharpe_bandits", "serve", str(path), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    printed = [server.stdout.readline() for _ in range(3)]
    started = time.perf_counter() - begin
    address, token = re.findall(r"http://\S+", printed[0])[0], printed[1].split()[-1]
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.goto(f"{address}/campaign/million")
    page.fill("#token", token)
    begin = time.perf_counter()
    page.click("main button[type=submit]")
    page.wait_for_url("**/campaign/million")
    first = seconds_until_drawn(page, begin)
    begin = time.perf_counter()
    page.goto(f"{address}/campaign/million")
    later = seconds_until_drawn(page, begin)
    context.close()
    server.terminate()
    server.wait()
    server.stdout.close()
    return started, first, later


def main() -> int:
    """Measure and print."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(prog="python -m torture.first_view", description=__doc__)
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--store", type=Path, help="file of the store (a temporary one)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = options.store or Path(folder) / "million.db"
        fill(path, options.decisions)
        chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(options.starts):
            started, first, later = look(path, browser)
            print(
                f"{options.decisions:,} decisions: address after {started:.2f} s, first view {first:.2f} s, a later "
                f"one {later:.2f} s; load average {os.getloadavg()[0]:.1f}"
            )
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
