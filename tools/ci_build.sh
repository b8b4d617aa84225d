#!/usr/bin/env bash
# Builds both archives into FOLDER and checks them; with TAG, such as v1.0.0, the version must be the same.
# Then the wheel must also have the compiled kernels, which tools/compile_kernels.py writes into src/kibitz/compiled.
#   bash tools/ci_build.sh FOLDER [TAG]
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1 tag=${2-}
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' src/kibitz/__init__.py)
if [ -n "$tag" ] && [ "$tag" != "v$version" ]; then
    echo "the tag must be v$version (got $tag)" >&2
    exit 1
fi
export PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt
python -m pip install --quiet --disable-pip-version-check build twine
python -m build --sdist --outdir "$folder" .
python -m build --wheel --outdir "$folder" . # not from the source archive, which has no compiled kernels
python -m twine check --strict "$folder"/*
python tools/wheel_contents.py "$folder"/*.whl
[ -z "$tag" ] || python tools/wheel_contents.py "$folder"/*.whl --compiled
