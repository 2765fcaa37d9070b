"""Options of the command line: short help with examples and defaults, and errors that say what to type."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, Literal, NoReturn, get_args, get_origin

from .._support import console
from .._support.files import to_json
from .._support.plain_data import finite_or_none
from ..errors import InvalidInputError, meant, shown

#: An option as Python writes it: missing='drop', columns=['A', 'B'], scale=0.01, columns=
_KEYWORD = re.compile(r"(?<![\w(:,])([A-Za-z_]+)=('[^']*'|\[[^\]]*\]|\([^)]*\)|-?\d[\d.]*(?:e-?\d+)?\b|True)?(?!\w)")
#: The name of an option as Python writes it: periods_per_year, or the first word of "seed must be ..."
_NAME = re.compile(r"(?<!-)\b([a-z]+(?:_[a-z]+)+|^\w+(?= must be ))\b(?!=)()")


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Only required options in the usage line; the default in parentheses after the help of an option."""

    def __init__(self, prog: str, **kwargs: Any) -> None:
        super().__init__(prog, max_help_position=27, **kwargs)
        self._action_max_length = 16  # of the longest command, with its indentation

    def add_usage(self, usage: str | None, actions: Iterable[argparse.Action], groups: Any, prefix: Any = None) -> None:
        every = list(actions)
        required = [action for action in every if action.required or not action.option_strings]
        words = ["%(prog)s"]
        for action in sorted(required, key=lambda a: len(a.option_strings)):  # "--arms A B name" would take the name
            value = self._format_args(action, action.dest.upper() if action.option_strings else action.dest)
            words.append(" ".join([*action.option_strings[-1:], value]))
        words += ["[options]"] * (len(required) < len(every))
        super().add_usage(usage or " ".join(words), [], [], prefix)

    def _get_help_string(self, action: argparse.Action) -> str | None:
        text = action.help or ""
        constant = isinstance(action, argparse._StoreConstAction) or action.default in ("", argparse.SUPPRESS)
        if constant or action.default is None or not action.option_strings or text.endswith(")"):
            return text
        return f"{text} (%(default)s)".strip()


class Parser(argparse.ArgumentParser):
    """A parser of a command, with an example of its arguments, shown in its help and if something is missing."""

    def __init__(self, *, example: str = "", **kwargs: Any) -> None:
        kwargs.setdefault("formatter_class", Formatter)
        super().__init__(**kwargs)
        self.example = f"{self.prog} {example}" if example else ""
        if self.example:
            self.description = f"{self.description}\n\nexample:\n  {self.example}"

    def error(self, message: str) -> NoReturn:
        choice = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message, re.DOTALL)
        near = meant(choice[1], choice[2].replace("'", "").split(", ")) if choice else ""
        sample = f", as in: {self.example}" if self.example and "required" in message else f"; see {self.prog} --help"
        raise InvalidInputError(f"{message}{near}{sample}")

    def check_options(self, words: Iterable[str]) -> None:
        """Raise for the first option that the command does not have, before missing ones are reported."""
        options = [name for name in self._option_string_actions if name.startswith("--")]
        for word in words:
            name = word.partition("=")[0]
            if re.match("--[A-Za-z]", name) and not any(option.startswith(name) for option in options):
                raise InvalidInputError(
                    f"{self.prog} has no option {name}{meant(name, options)} (see {self.prog} --help)"
                )

    def command(self, words: Sequence[str]) -> Parser:
        """The parser of the command that these words name; itself if they name none."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                name = next((word for word in words if word in action.choices), None)
                if name is not None:
                    inner: Parser = action.choices[name]
                    return inner.command(words[list(words).index(name) + 1 :])
        return self

    def spelled(self, text: str) -> str:
        """A message with options as this command writes them: ``--missing drop`` instead of ``missing='drop'``."""
        return _NAME.sub(self._option, _KEYWORD.sub(self._option, text))

    def _option(self, keyword: re.Match[str]) -> str:
        value = ast.literal_eval(keyword[2]) if keyword[2] else None
        own = [a for a in self._actions if a.dest == keyword[1] and a.option_strings and a.const in (value, None)]
        if not own:
            return keyword[0]
        option = max(own, key=lambda action: action.const is not None)  # --percent rather than --scale 0.01
        words = value if isinstance(value, (list, tuple)) else [] if value in (None, option.const) else [value]
        return " ".join([option.option_strings[-1], *(shlex.quote(str(word).replace("\t", "tab")) for word in words)])


def add_options(
    parser: argparse._ActionsContainer, of: Callable[..., Any], options: Mapping[str, str], required: bool = False
) -> None:
    """Add options for parameters of a function, which has their types, choices and defaults.

    A key is the option as usage has it: ``--seed N``, ``--full``, ``--date COLUMN ...`` for several values. With
    ``required``, those without a default have to be given.
    """
    parameters = signature(of, eval_str=True).parameters
    for usage, words in options.items():
        flag, *value = usage.split()
        parameter = parameters[flag[2:].replace("-", "_")]
        default = None if parameter.default is parameter.empty else parameter.default
        leaves = list(_leaves(parameter.annotation))
        if bool in leaves:
            parser.add_argument(flag, action="store_true", help=words)
            continue
        kind: Any = next((kind for kind in (str, int, float) if kind in leaves), str)
        names = tuple(name for name in value if name != "...")
        parser.add_argument(
            flag,
            type=kind,
            default=default,
            choices=next((get_args(leaf) for leaf in leaves if get_origin(leaf) is Literal), None),
            nargs="+" if "..." in value else len(names) if len(names) > 1 else None,
            metavar=names if len(names) > 1 else names[0] if names else None,
            required=required and parameter.default is parameter.empty,
            help=words,
        )


class Pairs(argparse.Action):
    """Collects values such as ``error=1`` in a table; ``const`` is their type."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option: Any = None) -> None:
        table = dict(getattr(namespace, self.dest) or {})
        for text in [values] if isinstance(values, str) else values:
            name, equals, value = text.rpartition("=") if self.const is float else text.partition("=")
            try:
                if not equals:
                    raise ValueError
                table[name] = self.const(value)
            except ValueError:
                number = " with a number" if self.const is float else ""
                raise InvalidInputError(f"{option} takes {self.metavar}{number}, got {shown(text)}") from None
        setattr(namespace, self.dest, table)


def _leaves(annotation: Any) -> Iterable[Any]:
    """The types in a union and in its sequences; a Literal is one."""
    if get_origin(annotation) is Literal or not get_args(annotation):
        yield annotation
    else:
        for part in get_args(annotation):
            yield from _leaves(part)


def arguments(function: Callable[..., Any], options: argparse.Namespace) -> dict[str, Any]:
    """The parameters of a function that are among the options of a command."""
    return {name: value for name, value in vars(options).items() if name in signature(function).parameters}


def output(options: argparse.Namespace, data: Any, *shown: Any) -> None:
    """Print plain data as JSON if that is asked for; otherwise what people see: text, or what rich can print."""
    if options.json:
        print(to_json(finite_or_none(data), allow_nan=False).decode().rstrip())
        return
    for one in shown:
        print(one) if isinstance(one, str) else console.show(one)
