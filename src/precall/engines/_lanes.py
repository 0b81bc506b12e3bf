"""Shards dealt out to threads in an order that does not depend on them, and how far they are."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from ..exceptions import InputError
from ._columns import Piece, Request, read_pieces
from ._sources import Source
from ._twopass import Run

Progress = Callable[[int, int | None], object]

# Threads, whatever the number of cores: what each of them adds up is part of the result's last
# bits.
LANES = 4
# No more rows are held for all passes.
_FEW_ROWS = 200_000
# A lane may have this many shards waiting for it.
_AHEAD = 2


class Dealt:
    """Deal numbered shards out to lanes in turn.

    Every lane gets the same shards in the same order, however fast the threads are and however
    many cores there are: sums of weights are then the same to the last bit.
    """

    def __init__(self, shards: Iterable[tuple[int, Iterable[Any]]], lanes: int) -> None:
        self._shards = iter(shards)
        self._waiting: list[deque[tuple[int, Iterable[Any]]]] = [deque() for _ in range(lanes)]
        self._changed = threading.Condition()
        self._ended = False

    def lane(self, number: int) -> Iterator[tuple[int, Iterable[Any]]]:
        """Yield the shards of a lane."""
        while (shard := self._next(number)) is not None:
            yield shard

    def stop(self) -> None:
        """Give out no more."""
        with self._changed:
            self._ended = True
            for waiting in self._waiting:
                waiting.clear()
            self._changed.notify_all()

    def _next(self, number: int) -> tuple[int, Iterable[Any]] | None:
        with self._changed:
            while not self._waiting[number]:
                if self._ended:
                    return None
                if max(map(len, self._waiting)) >= _AHEAD:  # a lane is behind: let it catch up
                    self._changed.wait()
                    continue
                try:
                    shard = next(self._shards)
                except StopIteration:
                    self._ended = True
                else:
                    self._waiting[shard[0] % len(self._waiting)].append(shard)
                self._changed.notify_all()
            self._changed.notify_all()
            return self._waiting[number].popleft()


class Meter:
    """Tell the caller how far the passes are, one thread at a time."""

    def __init__(self, progress: Progress | None, source: Source, passes: int = 2) -> None:
        self._progress = progress
        self._passes = passes
        self._done = 0
        self._total: int | None = None
        self._lock = threading.Lock()
        if progress is not None and source.count_rows is not None:
            self._total = passes * source.count_rows()

    def watch(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Pass the pieces on; a piece counts when the next one is asked for."""
        for piece in pieces:
            yield piece
            with self._lock:
                self._done += piece.size
                if self._progress is not None:
                    self._progress(self._done, self._total)

    def start_again(self, passes: int) -> None:
        """Other passes follow, after a first one that was given up."""
        self._passes = passes
        if self._total is not None:
            self._total = self._done + passes * self._total

    def end_pass(self) -> None:
        """After the first pass the number of rows is known."""
        if self._total is None:
            self._total = self._passes * self._done


def run_in_lanes(source: Source, request: Request, rows: int, meter: Meter) -> Run:
    """Return what applies a task to the shards of a source, in threads, and adds up the results."""
    known = row_count(source)
    few = known is not None and known <= min(rows, _FEW_ROWS)  # threads would take longer to start
    held: list[Piece] = []

    def run(task: Any) -> Any:
        if few:  # read once for all passes
            held.extend(() if held else pieces_of(enumerate(source.shards(rows)), request, rows))
            found = task(meter.watch(held))
            meter.end_pass()
            return task.start() + found
        shards = Dealt(enumerate(source.shards(rows)), LANES)

        def work(lane: int) -> Any:
            try:
                return task(meter.watch(pieces_of(shards.lane(lane), request, rows)))
            except BaseException:
                shards.stop()  # the others would wait for this one
                raise

        with ThreadPoolExecutor(LANES) as pool:
            futures = deque(pool.submit(work, lane) for lane in range(LANES))
            states = []
            try:
                # Without a name for a future: an error would keep it, and all it has read.
                while futures:
                    states.append(futures.popleft().result())
            finally:
                shards.stop()  # after an error or an interrupt, the others need not go on
                futures.clear()
        meter.end_pass()
        total = task.start()
        while states:  # each is given up as soon as it is added
            total = total + states.pop()
        return total

    return run


def row_count(source: Source) -> int | None:
    """Rows of a source, where counting them is cheap."""
    with _errors_named():
        return None if source.count_rows is None else source.count_rows()


def pieces_of(
    shards: Iterable[tuple[int, Iterable[Any]]], request: Request, rows: int
) -> Iterator[Piece]:
    """Yield the rows of numbered shards."""
    with _errors_named():
        for shard, batches in shards:
            yield from read_pieces(batches, request, shard, rows)


@contextmanager
def _errors_named() -> Iterator[None]:
    """Say what to do about a file that cannot be read."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"data cannot be read ({error}): fix the file, or pass a pyarrow.dataset with types."
        ) from error
