#!/usr/bin/env bash
# Installs the Python packages that a list names, at its versions, in a folder of their own in the
# cache, and prints that folder; another time it only prints. Needs PyPI the first time.
#
#   tests/support/python_packages.sh LIST        LIST: a requirements file of pip
#
# WEFT_CACHE   default weft/ in $XDG_CACHE_HOME, else ~/.cache
set -euo pipefail
list=${1:?which list of packages}
name=$(basename "$list" .txt)
[ -r "$list" ] || { echo "python_packages.sh: $list: cannot be read" >&2; exit 2; }

cache=${WEFT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/weft}/python
# Virtual environments know the Python that they were made with.
python=/usr/bin/python3
[ -x $python ] || python=$(command -v python3)
version=$( (cat "$list"; $python --version) | sha256sum | cut -c 1-12)
folder=$cache/$name-$version
mkdir -p "$cache"
exec 9>"$cache/$name.lock"
flock 9
if [ ! -e "$folder/complete" ]; then
  rm -rf "$cache/$name"-????????????
  echo "python_packages.sh: installing $name into $folder" >&2
  $python -m venv "$folder" >&2
  "$folder/bin/pip" install -q --disable-pip-version-check -r "$list" >&2
  touch "$folder/complete"
fi
echo "$folder"
