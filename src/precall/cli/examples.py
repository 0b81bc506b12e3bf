"""Commands whose --help ends with examples, one a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click


class _Examples(click.Command):
    """Writes the examples below the options, as they are typed."""

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.examples = tuple(examples)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then what else there is to say."""
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")
        super().format_epilog(ctx, formatter)


class Command(_Examples):
    """A command with examples."""


class Group(_Examples, click.Group):
    """A group of commands with examples."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which they are used."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what every command does, on as many lines as that takes."""
        named = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, command.get_short_help_str(10_000)) for name, command in named if command]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
