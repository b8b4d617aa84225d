#!/bin/sh
# Makes a virtual environment. Debian and Ubuntu keep a part that this needs in a package of its own: as root it is
# installed, else the one command to do so is named.
set -eu
python=$1
venv=$2
if "$python" -c 'import ensurepip' 2>/dev/null; then
    exec "$python" -m venv "$venv"
fi
version=$("$python" -c 'import sys; print(f"{sys.version_info[0]}.{sys.version_info[1]}")')
package="python$version-venv"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing $package, which $python needs to make environments"
    apt-get update -qq && apt-get install -y -qq "$package" >/dev/null
    exec "$python" -m venv "$venv"
fi
echo "this Python cannot make environments yet; once, as root: apt-get install $package" >&2
exit 1
