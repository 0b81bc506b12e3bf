"""Signals, closed streams, pipes and odd files: real processes that end in order."""

import os
import re
import select
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from precall._text import shell_command
from precall.cli import main

from .conftest import write_csv

COMMAND = (sys.executable, "-m", "precall.cli")
COLUMNS = ("--label", "y", "--score", "a")
LONG = 120  # seconds after which a test gives up; nothing depends on the number
ENDS = [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
ends = pytest.mark.parametrize(("number", "status", "word"), ENDS, ids=["SIGINT", "SIGTERM"])

# The command, stopped in the middle of writing its file.
STOPPED = """
import pathlib, sys
from precall.cli import main
def write_text(self, *args, **options):
    self.write_bytes(b"half")
    print("writing", flush=True)
    sys.stdin.read()
pathlib.Path.write_text = write_text
sys.exit(main(sys.argv[1:]))
"""


@ends
def test_a_signal_while_a_file_is_written_leaves_nothing(number, status, word, csv_file, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED, "report", str(csv_file), *COLUMNS, "-o", "page.html"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        text=True,
    )
    assert process.stdout.readline() == "writing\n"
    assert len(list(tmp_path.iterdir())) == 1  # the half-written one
    process.send_signal(number)
    _, error = process.communicate(timeout=LONG)
    assert process.returncode == status
    assert error.strip() == f"precall: {word}."
    assert list(tmp_path.iterdir()) == []


def read_until(handle, wanted):
    """Read from a terminal until the bytes are there; None reads to its end."""
    seen = b""
    while wanted is None or wanted not in seen:
        assert select.select([handle], [], [], LONG)[0], seen
        try:
            part = os.read(handle, 65536)
        except OSError:  # how Linux says that the other side is closed
            part = b""
        if not part:
            break
        seen += part
    return seen


@ends
def test_the_cursor_is_shown_again_after_a_signal(number, status, word, tmp_path):
    os.mkfifo(tmp_path / "scores.csv")  # nobody writes into it, so the command waits
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, "evaluate", str(tmp_path / "scores.csv"), *COLUMNS],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    try:
        read_until(ours, b"\x1b[?25l")
        process.send_signal(number)
        after = read_until(ours, None)
        assert process.wait(timeout=LONG) == status
    finally:
        process.kill()
        os.close(ours)
    assert after.rfind(b"\x1b[?25h") > after.rfind(b"\x1b[?25l")
    assert word.encode() in after


def test_an_interrupt_while_libraries_are_loaded(monkeypatch, capsys):
    class Interrupting:
        def find_spec(self, name, path=None, target=None):
            if name == "precall.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "precall.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    assert main([]) == 130
    assert capsys.readouterr().err == "precall: interrupted.\n"


def shell(words, rest, cwd, **options):
    """Run a command with a redirection that only a shell knows."""
    line = f"exec {shell_command(tuple(map(str, words)))} {rest}"
    return subprocess.run(
        ["/bin/sh", "-c", line], cwd=cwd, capture_output=True, text=True, timeout=LONG, **options
    )


@pytest.mark.parametrize("rest", [">&-", "2>&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(rest, csv_file, tmp_path):
    words = [*COMMAND, "report", csv_file, *COLUMNS, "-o", "page.html"]
    result = shell(words, rest, tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")  # and nothing else was written into the file
    assert shell([*COMMAND, "evaluate", csv_file, *COLUMNS], rest, tmp_path).returncode == 0


@pytest.mark.parametrize("rest", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_errors_keep_their_status_when_streams_are_closed(rest, tmp_path):
    source = "-" if "<" in rest else "nowhere.csv"
    result = shell([*COMMAND, "evaluate", source, *COLUMNS], rest, tmp_path)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == (0 if "2>" in rest else 1)


@pytest.mark.parametrize("options", [(), ("--json",)])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_pipe_that_closes_early_is_no_error(options, unbuffered, csv_file):
    process = subprocess.Popen(
        [*COMMAND, "evaluate", str(csv_file), *COLUMNS, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )
    process.stdout.close()
    _, error = process.communicate(timeout=LONG)
    assert (process.returncode, error) == (0, b"")


def test_a_full_disk_behind_standard_output_is_one_line(csv_file, tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    result = shell([*COMMAND, "evaluate", csv_file, *COLUMNS], ">/dev/full", tmp_path)
    assert result.returncode == 2
    assert result.stderr == "precall: No space left on device.\n"
    result = shell([*COMMAND, "evaluate", "nowhere.csv", *COLUMNS], "2>/dev/full", tmp_path)
    assert result.returncode == 2


@pytest.mark.parametrize("name", ["pipe", "pipe.csv"])
def test_a_named_pipe_is_read(run, csv_file, tmp_path, name):
    os.mkfifo(tmp_path / name)
    writer = threading.Thread(
        target=lambda: (tmp_path / name).write_bytes(csv_file.read_bytes()), daemon=True
    )
    writer.start()
    result = run("evaluate", tmp_path / name, *COLUMNS, "--json")
    writer.join(LONG)
    assert result.status == 0, result.err
    expected = run("evaluate", csv_file, *COLUMNS, "--json").json()
    assert result.json()["models"] == expected["models"]


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_an_empty_name_is_not_the_folder(run, csv_file, tmp_path, monkeypatch, command):
    monkeypatch.chdir(csv_file.parent)
    result = run(command, "", *COLUMNS)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("precall: Invalid value for ")
    assert "the name is empty" in result.err
    assert len(result.err.splitlines()) == 1


def permissions(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_an_output_that_is_there_keeps_its_permissions(run, csv_file, tmp_path, mode):
    page = tmp_path / "page.html"
    page.touch()
    page.chmod(mode)
    assert run("report", csv_file, *COLUMNS, "-o", page).status == 0
    assert permissions(page) == mode
    assert page.stat().st_size > 1000


def test_a_new_output_has_ordinary_permissions(run, csv_file, tmp_path):
    previous = os.umask(0o027)
    try:
        assert run("report", csv_file, *COLUMNS, "-o", tmp_path / "page.html").status == 0
    finally:
        os.umask(previous)
    assert permissions(tmp_path / "page.html") == 0o640


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link(run, csv_file, tmp_path, there):
    (tmp_path / "shared").mkdir()
    target, link = tmp_path / "shared" / "real.html", tmp_path / "page.html"
    if there:
        target.touch()
    link.symlink_to(target)
    assert run("report", csv_file, *COLUMNS, "-o", link).status == 0
    assert link.is_symlink()
    assert target.stat().st_size > 1000
    assert [path.name for path in (tmp_path / "shared").iterdir()] == ["real.html"]


@pytest.mark.parametrize("kind", ["write-protected", "no ordinary file", "cannot be written"])
@pytest.mark.parametrize("command", ["report", "plot"])
def test_outputs_that_are_refused(run, csv_file, tmp_path, kind, command):
    path = tmp_path / ("page.html" if command == "report" else "page.png")
    if kind == "write-protected":
        path.write_text("mine")
        path.chmod(0o444)
    elif kind == "no ordinary file":
        os.mkfifo(path)
    else:
        path.symlink_to(path)
    before = path.lstat()
    result = run(command, csv_file, *COLUMNS, "-o", path)
    assert (result.status, result.out) == (2, "")
    assert len(result.err.splitlines()) == 1
    assert kind in result.err
    assert "--output" in result.err
    after = path.lstat()
    assert (after.st_ino, after.st_mode, after.st_size) == (
        before.st_ino,
        before.st_mode,
        before.st_size,
    )
    assert list(tmp_path.iterdir()) == [path]


TRICKY = "a\x1b[31m\u202eb\u2066"
SHOWN = r"a\x1b[31m\u202eb\u2066"


def test_hidden_characters_are_written_out(run, rows, tmp_path):
    """Neither terminal nor page may be steered by a name, nor hide that it tries."""
    source, page = tmp_path / f"{TRICKY}.csv", tmp_path / f"{TRICKY}.html"
    write_csv(source, {"y": rows["y"], TRICKY: rows["a"], "b": rows["b"]})
    columns = ("--label", "y", "--score", TRICKY)
    for result in (
        run("evaluate", source, *columns),
        run("compare", source, *columns, "--score", "b"),
        run("operate", source, *columns, "--min-precision", "0.3"),
        run("report", source, *columns, "-o", page),
        run("evaluate", source, "--label", "y", "--score", TRICKY + "?"),
        run("evaluate", tmp_path / f"{TRICKY}?.csv", *columns),
    ):
        told = result.out + result.err
        assert SHOWN in told
        assert not {"\x1b", "\u202e", "\u2066"} & set(told)
    text = page.read_text(encoding="utf-8")
    # All but the scripts: the chart library brings characters of its own.
    shown = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "This page again" in shown
    assert not {"\x1b", "\u202e", "\u2066"} & set(shown)
    command = shell_command(("--score", TRICKY))
    assert command == f"--score $'{SHOWN}'"
    assert SHOWN in text


def test_the_command_of_a_page_can_be_typed():
    words = (
        sys.executable,
        "-c",
        "import sys; print(ascii(sys.argv[1:]))",
        TRICKY,
        "it's",
        "\\n\n",
    )
    line = shell_command(words)
    assert line.isprintable()
    bash = "/bin/bash"
    if not Path(bash).exists():
        pytest.skip("there is no bash here")
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    result = subprocess.run(
        [bash, "-c", line], capture_output=True, text=True, timeout=LONG, env=environment
    )
    assert result.stdout == ascii(list(words[3:])) + "\n"
