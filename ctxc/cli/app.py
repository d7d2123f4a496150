"""The root command: global options, and commands that are imported only when they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from functools import cache
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ctxc.base import registry
from ctxc.base.errors import UsageError
from ctxc.cli import commands
from ctxc.cli.session import GLOBALS

EPILOG = "Global options may stand before or after the command. Nothing is ever read from the network."


def invoke(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit status; exceptions are left to the caller."""
    result = root_command().main(args=list(arguments), prog_name="ctxc", standalone_mode=False)
    return result if isinstance(result, int) else 0


def root_command() -> TyperGroup:
    """The whole command tree; nothing below the root is imported yet."""
    app = typer.Typer(
        cls=LazyGroup,
        name="ctxc",
        help="Compile, diff, lint and gate what a language model is shown.",
        epilog=EPILOG,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    command = typer.main.get_command(app)
    assert isinstance(command, TyperGroup)
    command.params += _global_params()
    return command


def _print_version(asked: bool) -> None:
    # Alone, ``--version`` seldom gets here (ctxc/__main__.py); beside anything else it is printed all the same.
    if asked:
        from ctxc import __version__
        from ctxc.cli.console import Console

        Console(environment={}).report(f"ctxc {__version__}\n")
        raise typer.Exit(0)


def _root(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", "-V", help="Print the version and exit.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """The options of the root; a declaration, each is acted on by its callback."""


@cache
def _global_params() -> list[Any]:
    """Options that every command takes, in both places; their values land in the context, not in the command.

    They are the same for the root and for its commands: evaluating their types takes as long as importing a command.
    """
    params, _, _ = typer.main.get_params_convertors_ctx_param_name_from_function(GLOBALS)
    for param in params:
        param.expose_value = False
        param.callback = _remember
    return list(params)


def _refuse_empty(param: Any, value: Any) -> None:
    """An empty text is a variable of a script that was not set: it does not mean what holds without the option."""
    if value == "" or (isinstance(value, (list, tuple)) and "" in value):
        name = param.opts[0] if param.param_type_name == "option" else param.human_readable_name.strip("[]{}.")
        raise UsageError(f"{name} was given an empty text", help="give it a value, or leave it out")


def _remember(context: Any, param: Any, value: Any) -> None:
    _refuse_empty(param, value)
    # A value given beside the command wins over one given before it; a default never wins over a given value.
    if value not in (None, False, 0, (), []):
        context.meta[f"ctxc.{param.name}"] = value


def is_global(param: Any) -> bool:
    """Whether a parameter of a command is one that every command takes."""
    return param.callback is _remember


class _Commands(MutableMapping[str, Any]):
    """Command names, and commands that are made when they are asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}
        self._names = registry.names(commands.__name__)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = _make(name, registry.load(commands.__name__, name))
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        raise TypeError("a command is added as a file in ctxc/cli/commands")

    def __delitem__(self, name: str) -> None:
        raise TypeError("commands cannot be removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _make(name: str, module: ModuleType) -> TyperCommand:
    run: Callable[..., int] = module.run
    info = typer.models.CommandInfo(
        name=name,
        callback=run,
        cls=Command,
        help=cleandoc(module.__doc__ or ""),
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    command = typer.main.get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode=None)
    assert isinstance(command, TyperCommand)
    command.params += _global_params()
    return command


def summary(name: str) -> str:
    """The first line of a command's docstring, read from its file so that the command is not imported."""
    spec = find_spec(f"{commands.__name__}.{name}")
    if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
        try:
            with Path(spec.origin).open(encoding="utf-8") as file:
                return file.readline().strip().strip('"')
        except OSError:
            pass
    return (registry.load(commands.__name__, name).__doc__ or "").split("\n", 1)[0]


def help_record(param: Any, context: Any) -> tuple[str, str] | None:
    """How a parameter is called, without brackets for what may be left out, and what it is; None for a hidden one."""
    record = param.get_help_record(context)
    return None if record is None else (record[0].strip("[]{}"), record[1])


def _options(command: Any, context: Any, formatter: Any) -> None:
    """Arguments, then the command's own options, then the global ones under their own title."""
    groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], "Global options": []}
    for param in command.get_params(context):
        record = help_record(param, context)
        if record is None:
            continue
        if param.param_type_name == "argument":
            groups["Arguments"].append(record)
        else:
            groups["Global options" if is_global(param) else "Options"].append(record)
    for title, records in groups.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _quiet_help(option: Any) -> Any:
    """The option of the help, printed by the console: Typer makes a closed pipe status 1, a full disk a fault."""
    if option is not None:
        option.callback = _show_help
    return option


def _show_help(context: Any, _param: Any, value: Any) -> None:
    if value and not context.resilient_parsing:
        from ctxc.cli.console import Console

        Console(environment={}).report(context.get_help() + "\n")
        context.exit()


class Command(TyperCommand):
    """A command whose help keeps the global options apart, and whose options are not given an empty text."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments of a command line."""
        left = super().parse_args(ctx, args)
        for param in self.params:
            given = ctx.get_parameter_source(param.name)
            if given is not None and given.name == "COMMANDLINE" and not ctx.resilient_parsing:
                _refuse_empty(param, ctx.params.get(param.name))
        return left

    def get_help_option(self, ctx: Any) -> Any:
        """Of ``--help``, printed by the console."""
        return _quiet_help(super().get_help_option(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Arguments in brackets where they may be left out, else as they are called."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options."""
        _options(self, ctx, formatter)


class LazyGroup(TyperGroup):
    """A group that knows its commands by file name and imports one only to run it or to show its help."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = _Commands()

    def get_help_option(self, ctx: Any) -> Any:
        """Of ``--help``, printed by the console."""
        return _quiet_help(super().get_help_option(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in alphabetical order."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands with their summaries, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(name)) for name in self.commands])

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write commands first: they are what a reader of the root's help looks for."""
        self.format_commands(ctx, formatter)
        _options(self, ctx, formatter)
