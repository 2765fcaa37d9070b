"""Ctrl-C while the program is still starting: one line and exit status 130, not a traceback out of some import."""

import os
import signal
import sys
from types import FrameType

STATUS = 130


def is_program() -> bool:
    """Whether the package is being imported to run its command line, not by somebody else's code."""
    name = os.path.splitext(os.path.basename(sys.argv[0] if sys.argv else ""))[0]
    # "-m" is all that argv holds while "python -m sharpe_bandits" imports the package on its way to __main__.
    return name == "sharpe-bandits" or (name == "-m" and "sharpe_bandits" in sys.orig_argv)


def leave_quietly() -> None:
    """Until :func:`take_back`, let Ctrl-C end the process; respects a parent that has it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def take_back() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int, frame: FrameType | None) -> None:
    # Nothing is open yet. An exception, instead, might be swallowed or garbled by whatever is being imported.
    os.write(2, b"\nsharpe-bandits: interrupted; nothing was written\n")
    os._exit(STATUS)
