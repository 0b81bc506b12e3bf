#!/usr/bin/env bash
# Build the source distribution, and the wheel from it; install each into an environment that has
# nothing else, and use it from an empty folder: the wheel with the core alone, the source
# distribution with the command line and the report.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=$PWD/.venv/bin/python
smoke=$PWD/scripts/smoke.py

echo "Building"
"$python" -m build --outdir "$work/dist" . >"$work/build.log" 2>&1 || { cat "$work/build.log" >&2; exit 1; }

# Studies run from the repository: the source distribution has them, the wheel has not.
"$python" -m tarfile -l "$work"/dist/*.tar.gz >"$work/source.txt"
"$python" -m zipfile -l "$work"/dist/*.whl >"$work/wheel.txt"
grep -q '/studies/__main__.py' "$work/source.txt" || { echo "The source distribution has no studies" >&2; exit 1; }
grep -q 'precall/ranking/' "$work/wheel.txt" || { echo "The wheel has no precall/ranking" >&2; exit 1; }
if grep -q 'studies/' "$work/wheel.txt"; then echo "The wheel has studies in it" >&2; exit 1; fi

install() { # install NAME REQUIREMENT: an environment called NAME with just that
	"$python" -m venv "$work/$1"
	"$work/$1/bin/python" -m pip --disable-pip-version-check install --quiet "$2"
	mkdir "$work/$1-empty" && cd "$work/$1-empty"
}

echo "The wheel, core only"
install core "$(echo "$work"/dist/*.whl)"
"$work/core/bin/python" -W error "$smoke"

echo "The source distribution, with command line, plots and report"
install full "$(echo "$work"/dist/*.tar.gz)[cli,plot,report]"
"$work/full/bin/python" -W error "$smoke"
printf 'label,score\n1,0.9\n0,0.8\n1,0.7\n0,0.2\n0,0.1\n' >mine.csv
"$work/full/bin/precall" evaluate mine.csv --label label --score score
"$work/full/bin/precall" report mine.csv --label label --score score -o mine.html
test -s mine.html
echo "The package builds, installs and works"
