"""Ask every tool that is there, compare, and write the page (`make peers`)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import own_data, page, r_tools, tools
from .data import data_sets


def main() -> int:
    """Return 1 where numbers differ without a known reason."""
    parser = argparse.ArgumentParser(prog="python -m scripts.peers", description=__doc__)
    parser.add_argument("--page", default="docs/peers.md", help="where to write the page")
    options = parser.parse_args()
    sets, answers = data_sets(), []
    for tool in tools.TOOLS:
        print(f"asking {tool.name}", flush=True)
        answers += tools.asked(tool, sets)
    print("asking R and Java", flush=True)
    r_tools.install()
    answers += r_tools.asked(sets)
    answers += r_tools.auc_calculator(sets)
    lines = page.compared(answers)
    files = list(own_data.trec_eval_files())
    curves = list(own_data.decision_curves())
    text = page.written(answers, lines, own_data.patients(answers), files, curves)
    Path(options.page).write_text(text, encoding="utf-8")
    for answer in answers:
        if answer.quantity == "missing":
            print(f"not there: {answer.tool}: {answer.message}")
    differ = [case for line in lines.values() for case in line.unexplained]
    differ += [case for _, _, found in files for case in found]
    differ += [f"dcurves: {name}: {worst:.3g}" for name, _, worst in curves if worst > page.DOUBLE]
    for case in differ:
        print(f"differs: {case}", file=sys.stderr)
    count = sum(line.compared for line in lines.values())
    print(f"{count} numbers of {len({tool for tool, _ in lines})} tools compared")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
