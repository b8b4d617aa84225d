#!/bin/sh
# Installs Sunfish, an opponent for `kibitz match`, into an environment of its own: it needs an older python-chess.
#   sh tools/install_sunfish.sh [FOLDER] [PYTHON]
# In the default folder, .sunfish, `kibitz match A sunfish` finds it; from another, put FOLDER/bin on the PATH.
set -eu
folder=${1:-.sunfish}
python=${2:-python3}
sh "$(dirname "$0")/make_venv.sh" "$python" "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check sunfish==2026.1
echo '*' >"$folder/.gitignore"
echo "Sunfish is in $folder"
