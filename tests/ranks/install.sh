#!/usr/bin/env bash
# Installs one of the frameworks that the rank tests run, in a folder of its own in the cache, and
# prints that folder. With the versions of tests/ranks/requirements/<name>.txt; another time it only
# prints. Needs PyPI the first time.
#
#   tests/ranks/install.sh torch       5.4 GB, two minutes: the wheel brings CUDA, used or not
#   tests/ranks/install.sh deepspeed   beside torch, in the same folder
#   tests/ranks/install.sh jax | tensorflow | openmpi4 | openmpi5 | mpich | intelmpi
#
# WEFT_CACHE   default weft/ in $XDG_CACHE_HOME, else ~/.cache
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
name=${1:?which framework: see tests/ranks/requirements}
wanted=$here/requirements/$name.txt
[ -r "$wanted" ] || { echo "install.sh: no framework '$name'" >&2; exit 2; }

cache=${WEFT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/weft}/ranks
# Virtual environments know the Python that they were made with.
python=/usr/bin/python3
[ -x $python ] || python=$(command -v python3)
version=$( (cat "$wanted"; $python --version) | sha256sum | cut -c 1-12)
pip=(-q --disable-pip-version-check -r "$wanted")

if [ "$name" = deepspeed ]; then
  folder=$("$here/install.sh" torch)
  done=$folder/complete-$name-$version
  # It looks for torch while it is built, and needs that one operator on CPUs.
  pip+=(--no-build-isolation)
  export DS_BUILD_OPS=0 DS_BUILD_SHM_COMM=1
else
  folder=$cache/$name-$version
  done=$folder/complete
fi
mkdir -p "$cache"
exec 9>"$cache/$name.lock"
flock 9
if [ ! -e "$done" ]; then
  echo "install.sh: installing $name into $folder" >&2
  if [ "$done" = "$folder/complete" ]; then
    rm -rf "$cache/$name"-????????????
    $python -m venv "$folder" >&2
  fi
  "$folder/bin/pip" install "${pip[@]}" >&2
  touch "$done"
fi
echo "$folder"
