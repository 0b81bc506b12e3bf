"""A real PostgreSQL server for the tests, in a folder of its own, reached through a socket."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# The same places, in the same order, as in scripts/install_postgres.sh.
PLACES = "/usr/lib/postgresql/*/bin"


def programs() -> Path | None:
    """The folder with initdb and postgres: on the path, or where Debian puts them."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    folders = sorted(Path("/").glob(f"{PLACES[1:]}/initdb"))
    return folders[-1].parent if folders else None


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Start a server and yield where to connect; it refuses to run as root, so it never does."""
    with tempfile.TemporaryDirectory(prefix="precall-pg-") as name:
        home = Path(name)
        as_user: list[str] = []
        if os.geteuid() == 0:
            shutil.chown(home, "postgres", "postgres")
            as_user = ["runuser", "-u", "postgres", "--"]

        def run(program: str, *options: str) -> None:
            command = [*as_user, str(folder / program), *options]
            subprocess.run(command, check=True, capture_output=True, cwd=home, timeout=120)

        data = str(home / "data")
        run("initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync")
        settings = f"-c listen_addresses= -c unix_socket_directories={home} -c fsync=off"
        log = str(home / "log")
        run("pg_ctl", "-D", data, "-w", "-l", log, "-o", settings, "start")
        try:
            yield f"host={home} user=tester dbname=postgres"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
