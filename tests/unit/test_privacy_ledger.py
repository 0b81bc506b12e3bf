"""A ledger in a file: it knows its rows, its place and its newest state, and gives nothing away."""

import hashlib
import json
import shutil
import stat
import sys

import numpy as np
import pytest

from precall import privacy
from precall.exceptions import InputError
from precall.privacy._fingerprint import Fingerprints
from precall.privacy.budget import Budget

Y = np.arange(40) % 4 == 0
A = np.linspace(0.0, 1.0, 40)
B = A[::-1].copy()


@pytest.fixture
def path(tmp_path):
    target = tmp_path / "ledger.json"
    Budget(epsilon=100.0).save(target)
    return target


def release(budget, y=Y, score=A):
    return privacy.auroc(y, score, epsilon=1.0, budget=budget)


def test_a_ledger_takes_its_rows_and_no_others(path):
    budget = Budget.load(path)
    release(budget)
    release(budget, Y, B)  # another model of the same rows
    release(budget, ~Y, B)  # the other class of the same rows
    privacy.private_edges(A, low=0, high=1, n_bins=4, epsilon=1.0, budget=budget)
    release(Budget.load(path), Y.astype(int), -0.0 + A)
    assert len(budget.ledger) == 5
    other = np.roll(Y, 1), A + 1.0
    for loaded in (budget, Budget.load(path)):
        with pytest.raises(InputError, match="neither their labels nor their scores") as refused:
            release(loaded, *other)
        assert not any(character.isdigit() for character in str(refused.value))
    assert budget.spent.epsilon == 5.0  # a refusal is free
    release(Budget.load(path, new_rows=True), *other)
    release(Budget.load(path), *other)


def test_one_changed_row_in_both_columns_is_another_data_set(path):
    release(Budget.load(path))
    y, score = Y.copy(), A.copy()
    y[3], score[3] = not y[3], 0.5
    with pytest.raises(InputError, match="not those"):
        release(Budget.load(path), y, score)


def test_every_release_is_recognised(path):
    budget = Budget.load(path)
    release(budget)
    other = np.roll(Y, 1), A + 1.0
    releases = [
        lambda: privacy.average_precision(*other, epsilon=1.0, budget=budget),
        lambda: privacy.confusion(*other, threshold=0.5, epsilon=1.0, budget=budget),
        lambda: privacy.pr_curve(*other, edges=[0, 1, 2], epsilon=1.0, budget=budget),
        lambda: privacy.private_edges(
            other[1], low=0, high=2, n_bins=4, epsilon=1.0, budget=budget
        ),
        lambda: privacy.cross_validation(
            *other, np.arange(40) % 2, trained_on="other_rows", epsilon=1.0, budget=budget
        ),
    ]
    for refused in releases:
        with pytest.raises(InputError, match="not those"):
            refused()
    assert budget.spent.epsilon == 1.0


def test_a_budget_without_a_file_takes_all_rows():
    budget = Budget(epsilon=2.0)
    release(budget)
    release(budget, np.roll(Y, 1), A + 1.0)


def test_the_ledger_says_nothing_about_the_rows_without_its_key(path):
    """Neither a plain digest of a column, nor which columns are equal."""
    budget = Budget.load(path)
    for _ in range(3):
        release(budget)
    privacy.private_edges(A, low=0, high=1, n_bins=4, epsilon=1.0, budget=budget)
    plain = json.loads(path.read_text())
    records = plain["fingerprints"]
    assert [set(record) for record in records] == 4 * [{"nonce", "labels", "scores"}]
    words = [word for record in records for word in record.values()]
    assert len(set(words)) == len(words)  # equal columns show in nothing
    size = (40).to_bytes(8, "little")
    for column in (np.packbits(Y).tobytes(), A.tobytes()):
        for data in (column, size + column):
            digest = hashlib.sha256(data)
            assert digest.hexdigest() not in path.read_text()
    key = json.loads(path.with_name(".ledger.json.key").read_text())["key"]
    assert key not in path.read_text()
    Fingerprints(records).recognise(bytes.fromhex(key), Y)
    with pytest.raises(InputError):
        Fingerprints(records).recognise(bytes(32), Y, A)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of files are others there")
def test_the_key_is_for_its_owner_only(path):
    key = path.with_name(".ledger.json.key")
    for _ in range(2):
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        release(Budget.load(path))


def files(folder):
    return [folder / name for name in ("ledger.json", ".ledger.json.key", ".ledger.json.lock")]


def test_a_copy_is_refused_until_somebody_vouches_for_it(path, tmp_path):
    release(Budget.load(path))
    for names, words in ((1, "has no key"), (2, "is a copy, or was moved"), (3, "is a copy")):
        folder = tmp_path / str(names)
        folder.mkdir()
        for file in files(tmp_path)[:names]:
            shutil.copy2(file, folder)
        with pytest.raises(InputError, match=words):
            Budget.load(folder / "ledger.json")
        moved = Budget.load(folder / "ledger.json", moved=True)
        assert moved.spent.epsilon == 1.0
        assert Budget.load(folder / "ledger.json").spent.epsilon == 1.0
        if names > 1:  # with its key it still knows its rows
            with pytest.raises(InputError, match="not those"):
                release(moved, np.roll(Y, 1), B)
        release(moved)
    assert Budget.load(path).spent.epsilon == 1.0


def test_an_older_or_an_edited_ledger_is_refused(path):
    budget = Budget.load(path)
    release(budget)
    older = path.read_bytes()
    release(budget)
    newer = path.read_bytes()
    for text in (older, newer.replace(b"100.0", b"200.0"), newer + b" "):
        path.write_bytes(text)
        for use in (lambda: Budget.load(path), lambda: budget.remaining, lambda: release(budget)):
            with pytest.raises(InputError, match="put back, or it was edited"):
                use()
    path.write_bytes(newer)
    assert budget.spent.epsilon == 2.0


def test_a_program_that_ends_between_two_writes_locks_nobody_out(path, monkeypatch):
    from precall.privacy import _ledger_file

    budget = Budget.load(path)
    replaced = _ledger_file._replace
    for writes in (1, 2):
        done = []

        def dies(target, text, done=done, writes=writes, **options):
            if len(done) == writes:
                raise KeyboardInterrupt
            done.append(target)
            replaced(target, text, **options)

        monkeypatch.setattr(_ledger_file, "_replace", dies)
        with pytest.raises(KeyboardInterrupt), budget.hold(epsilon=1.0, delta=0.0, what="x"):
            pass
        monkeypatch.setattr(_ledger_file, "_replace", replaced)
        # What reached the ledger counts; what did not was never looked at.
        assert Budget.load(path).spent.epsilon == writes - 1
    release(Budget.load(path))
    assert Budget.load(path).spent.epsilon == 2.0


@pytest.mark.parametrize("name", ["moved", "new_rows"])
@pytest.mark.parametrize("value", ["yes", None, 2])
def test_switches_are_switches(path, name, value):
    with pytest.raises(InputError, match=name):
        Budget.load(path, **{name: value})


def test_a_damaged_key_is_an_error_and_not_a_new_ledger(path):
    path.with_name(".ledger.json.key").write_text("{}")
    with pytest.raises(InputError, match="not the key"):
        Budget.load(path)
    assert Budget.load(path, moved=True).remaining.epsilon == 100.0
