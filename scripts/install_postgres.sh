#!/usr/bin/env bash
# The tests of the SQL engine start a PostgreSQL server of their own. Install its programs where
# that is possible without asking: as root on a machine with apt. Elsewhere say what to do; the
# tests then skip what needs a server (or fail, with PRECALL_REQUIRE_ALL=1).
set -euo pipefail

# The same places, in the same order, as in tests/postgresql.py.
command -v initdb >/dev/null && exit 0
compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null && exit 0

if [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
  echo "Installing PostgreSQL for the tests of the SQL engine"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq postgresql >/dev/null && exit 0
  echo "apt-get could not install postgresql." >&2
fi

echo "No PostgreSQL found: tests that need a server cannot run. Install postgresql with the" >&2
echo "package manager of this system." >&2
