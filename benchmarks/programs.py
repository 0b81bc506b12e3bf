"""Programs in a new interpreter, with the bytecode that an installed package has."""

import os
import subprocess
import sys

# Where this is set, every start compiles the library again: half of a short program's time.
_COMPILES_AGAIN = "PYTHONDONTWRITEBYTECODE"


def run_python(*arguments: str) -> None:
    """Run Python with these arguments; what it prints is not shown, and a failure is raised."""
    environment = {name: value for name, value in os.environ.items() if name != _COMPILES_AGAIN}
    subprocess.run(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True, env=environment
    )
