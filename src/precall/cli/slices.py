"""``precall slices``."""

from __future__ import annotations

import click

from .._version import __version__
from ..evaluation import wording
from ..groups.slices import slices
from ..groups.slices_result import Slice, Slices
from ..metrics import Metric
from ..readers.columns import Columns, Roles, columns_of
from ..readers.large import is_large
from ..readers.options import ReadOptions
from ..rows import Rows
from .examples import Command
from .inputs import FileRequest, opened_files
from .large_slices import slices_by_pieces, slices_in_database
from .lines import shown, write_json
from .moving import spinner
from .options import (
    FRACTION,
    Source,
    cluster_option,
    column_options,
    file_argument,
    json_option,
    level_option,
    memory_option,
    metric_option,
    public_file,
    reading_options,
    seed_option,
    table_option,
)
from .terminal import console, grid, heading, sentences

# Of a name in the table, so that no number beside it is cut.
_LONGEST_NAME = 60
# Slices that are too small and are named.
_MOST_NAMED = 10


@click.command(
    "slices",
    cls=Command,
    examples=(
        "precall slices scores.csv --label y --score model --by country",
        "precall slices scores.csv --label y --score model --by country --by age",
        "precall slices scores.csv --label y --score model --by country --json",
    ),
)
@file_argument()
@column_options()
@click.option(
    "--by",
    multiple=True,
    required=True,
    metavar="COLUMN",
    help="Column to cut the rows by; repeat it for several, which are crossed.",
)
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="How many columns are crossed at most.",
)
@metric_option("What to compute in every slice", default="aucnpr")
@click.option(
    "--prevalence",
    type=FRACTION,
    help="Prevalence at which slices are compared; that of all rows if not given.",
)
@click.option(
    "--min-positives",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    help="Slices with fewer rows of a class are only counted.",
)
@click.option(
    "--quantiles",
    type=click.IntRange(min=2),
    default=4,
    show_default=True,
    help="Into how many parts columns of numbers are cut.",
)
@cluster_option
@level_option
@seed_option
@memory_option
@json_option
@table_option
@reading_options
def command(
    file: Source,
    label: str,
    scores: tuple[str, ...],
    weight: str | None,
    pos_label: str | None,
    by: tuple[str, ...],
    depth: int,
    metric: Metric,
    prevalence: float | None,
    min_positives: int,
    quantiles: int,
    cluster: str | None,
    level: float,
    seed: int,
    memory: int,
    as_json: bool,
    table: str | None,
    reading: ReadOptions,
) -> None:
    """Show where a model is worse: a metric in every slice of the rows of FILE.

    All slices are compared at one prevalence, and the intervals hold for all of them at once, so
    that what is said about the worst one holds although it was looked for.
    """
    if depth > max(2, len(by)):
        raise click.UsageError(f"--depth {depth} needs as many --by: give more, or lower --depth.")
    roles = Roles(
        label=label, scores=scores, weight=weight, cluster=cluster, pos_label=pos_label, by=by
    )
    request = FileRequest(
        file,
        roles,
        level=level,
        memory=memory * 2**20,
        reading=reading,
        prevalence=prevalence,
        table=table,
    )
    options = {"depth": depth, "min_positives": min_positives}
    if (database := request.database) is not None:
        found = slices_in_database(database, request, metric, **options)
    else:
        with opened_files(request) as files:
            if is_large(files, roles, memory=request.memory):
                found = slices_by_pieces(files, request, metric, **options)
            else:
                with spinner() as say:
                    say("reading")
                    columns = columns_of(files, roles, file)
                found = _in_memory(columns, request, metric, quantiles, seed, **options)
    if as_json:
        models = [result.to_dict() for result in found]
        write_json({"precall": __version__, "file": public_file(file), "models": models})
        return
    for result in found:
        show(result, several=len(found) > 1)


def _in_memory(
    columns: Columns,
    request: FileRequest,
    metric: Metric,
    quantiles: int,
    seed: int,
    *,
    depth: int,
    min_positives: int,
) -> list[Slices]:
    rows = Rows(
        columns.positive,
        columns.scores,
        sample_weight=columns.weight,
        clusters=columns.cluster and columns.cluster.codes,
        columns=columns.by,
    )
    with spinner() as say:
        say("slicing")
        return [
            slices(
                rows,
                list(request.roles.by),
                metric,
                depth=depth,
                model=model,
                prevalence=request.prevalence,
                min_positives=min_positives,
                quantiles=quantiles,
                confidence_level=request.level,
                rng=seed,
            )
            for model in rows.names
        ]


def show(result: Slices, *, several: bool) -> None:
    """Print every slice, the lowest metric first, and what is certain about it."""
    output = console()
    of = f" of {shown(result.model)}" if several else ""
    share = wording.percent(result.prevalence)
    heading(output, f"{result.title}{of} at prevalence {share}, the lowest first")
    columns = [("slice", "left"), ("positive", "right"), (result.title, "right")]
    columns += [("− rest", "right"), ("p", "right")]
    if result.slices:
        grid(output, columns, [_row(one) for one in result])
    output.print()
    sentences(output, [result.statement, *result.notes])
    if result.too_small and result.slices:
        names = [shown(one.name, 60) for one in result.too_small[:_MOST_NAMED]]
        more = len(result.too_small) - len(names)
        listed = "; ".join([*names, f"{more} more"] if more else names)
        few = f"fewer than {result.min_positives} rows of a class"
        sentences(output, [f"Too small to say, with {few}: {listed}."])


def _row(one: Slice) -> list[str]:
    none = wording.number(None)
    cells = [shown(one.name, _LONGEST_NAME), wording.count(one.n_pos)]
    if one.interval is None or one.difference is None or one.p_value is None:
        rest = [none, none]
    else:
        decimals = wording.decimals_for(0.5 * one.difference.width)
        rest = [wording.fixed(one.difference.estimate, decimals, signed=True, digits=1)]
        rest += [wording.p_value(one.p_value)]
    own = one.interval
    value = none if own is None else wording.interval(own.estimate, own.low, own.high)
    return [*cells, value, *rest]
