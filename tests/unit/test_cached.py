"""Values that are computed once for each object, by several threads at the same time."""

import threading
from dataclasses import dataclass

from precall._cached import cached_property


@dataclass(frozen=True)
class Slow:
    meeting: threading.Barrier
    calls: list

    @cached_property
    def value(self):
        """What takes long."""
        self.calls.append(1)
        self.meeting.wait()
        return object()


def test_objects_do_not_wait_for_each_other():
    """With a lock for all of a class, the second would wait for the first, and the first for it."""
    meeting = threading.Barrier(2, timeout=60)
    objects = [Slow(meeting, []), Slow(meeting, [])]
    threads = [threading.Thread(target=getattr, args=(each, "value")) for each in objects]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [each.calls for each in objects] == [[1], [1]]
    assert not meeting.broken


def test_a_value_is_kept_and_documented():
    found = Slow(threading.Barrier(1), [])
    assert found.value is found.value
    assert found.calls == [1]
    assert Slow.value.__doc__ == "What takes long."
