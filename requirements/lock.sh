#!/bin/sh
# Writes the hashed lock files anew (needs uv). No index address ends up in them.
set -eu
cd "$(dirname "$0")/.."
compile() { uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet "$@"; }
printf 'hatchling\nhatch-vcs\neditables\n' | compile - -o requirements/build.txt
compile pyproject.toml -o requirements/core.txt
compile pyproject.toml --all-extras --group dev -c requirements/core.txt -o requirements/all.txt
printf 'pywb\n' | compile - -o requirements/pywb.txt
