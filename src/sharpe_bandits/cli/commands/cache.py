"""``sharpe-bandits cache``: show where compiled kernels are stored and how large they are, or remove them."""

from __future__ import annotations

import argparse

from ...simulation.cache import MAX_BYTES, cache_folder, cache_size, clear
from ..parser import output


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--clear", action="store_true", help="remove all compiled kernels; they are recompiled when needed"
    )
    parser.set_defaults(do=show)


def show(options: argparse.Namespace) -> None:
    """Print what the cache holds, or clear it."""
    folder = cache_folder() / "kernels"
    size = clear() if options.clear else cache_size(folder)
    text = f"{size.files} compiled kernels, {size.bytes / 2**20:.1f} MiB"
    limits = f"trimmed to {MAX_BYTES // 2**20} MiB"
    text = f"removed {text} from {folder}" if options.clear else f"{folder}: {text}; {limits}"
    data = {"folder": str(folder), "files": size.files, "bytes": size.bytes, "cleared": options.clear}
    output(options, data, text)
