#!/usr/bin/env bash
# The browser tests drive the system's chromium. Install it where that is possible without asking:
# as root on a machine with apt. Elsewhere say what to do; the tests then skip what needs a browser
# (or fail, with PRECALL_REQUIRE_ALL=1).
set -euo pipefail

if [[ -n "${PRECALL_CHROMIUM:-}" ]]; then
  [[ -x "$PRECALL_CHROMIUM" ]] && exit 0
  echo "PRECALL_CHROMIUM=$PRECALL_CHROMIUM is not an executable file." >&2
  exit 1
fi

# The same names, in the same order, as the chromium_path fixture in tests/conftest.py.
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$name" >/dev/null && exit 0
done

if [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
  echo "Installing chromium for the browser tests"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq chromium >/dev/null && exit 0
  echo "apt-get could not install chromium." >&2
fi

echo "No chromium found: browser tests cannot run. Install chromium with the package manager of" >&2
echo "this system, or set PRECALL_CHROMIUM to the path of a Chrome or Chromium executable." >&2
