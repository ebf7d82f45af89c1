#!/usr/bin/env python3
"""The first process of a container: gives itself a root folder with the mounts of its spec, then
becomes the container's command. Runs in mount and process namespaces of its own (kubelet.py).

    container.py PLAN      a JSON file: command, environment, folder, root, mounts, image_folders
"""

import ctypes
import json
import os
import sys

BIND, RECURSIVE, PRIVATE = 4096, 16384, 1 << 18
READ_ONLY, REMOUNT, NO_SUID, NO_DEV = 1, 32, 2, 4
DETACH = 2
# The machine's own of these stay outside; the others are the image.
OWN = ("dev", "etc", "proc", "run", "sys", "tmp", "lost+found")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")

libc = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind=None, flags=0, options=None):
    texts = [text.encode() if text else None for text in (source, target, kind)]
    if libc.mount(*texts, ctypes.c_ulong(flags), options.encode() if options else None) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"mount {source} {target} {kind}: {os.strerror(error)}")


def bind(source, target, read_only=True):
    """A file or a folder with all that is mounted below it."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target):
            with open(target, "x", encoding="utf-8"):
                pass
    mount(source, target, flags=BIND | RECURSIVE)
    if read_only:
        flags = BIND | REMOUNT | READ_ONLY
        inherited = os.statvfs(target).f_flag & (NO_SUID | NO_DEV)  # these may not be taken away
        mount(None, target, flags=flags | inherited)


def bind_all(source, target, leave_out=()):
    """Each thing in a folder, so that others can be put beside them."""
    os.makedirs(target, exist_ok=True)
    for name in os.listdir(source):
        if name in leave_out:
            continue
        there, here = os.path.join(source, name), os.path.join(target, name)
        if os.path.islink(there):
            os.symlink(os.readlink(there), here)
        elif os.path.isdir(there) or os.path.isfile(there):
            bind(there, here)


def make_devices(root):
    for name in DEVICES:
        bind(f"/dev/{name}", f"{root}/dev/{name}", read_only=False)
    os.makedirs(f"{root}/dev/pts")
    mount("devpts", f"{root}/dev/pts", "devpts", options="newinstance,ptmxmode=0666")
    os.symlink("pts/ptmx", f"{root}/dev/ptmx")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"{root}/dev/{name}")
    os.symlink("/proc/self/fd", f"{root}/dev/fd")
    os.makedirs(f"{root}/dev/shm", exist_ok=True)
    mount("shm", f"{root}/dev/shm", "tmpfs", options="size=64m")  # as a container runtime gives


def make_root(plan):
    root = plan["root"]
    mount(None, "/", flags=RECURSIVE | PRIVATE)
    mount("root", root, "tmpfs", options="mode=0755")
    bind_all("/", root, leave_out=OWN)
    own = {one["path"].lstrip("/").split("/")[1] for one in plan["mounts"]
           if one["path"].startswith("/etc/")}
    bind_all("/etc", f"{root}/etc", leave_out=own)
    for name in ("proc", "run", "tmp"):
        os.makedirs(f"{root}/{name}", exist_ok=True)
    os.makedirs(f"{root}/run/sshd")
    os.chmod(f"{root}/tmp", 0o1777)
    for path, source in plan["image_folders"].items():
        if not os.path.exists(f"{root}{path}"):
            bind(source, f"{root}{path}")
    mount("proc", f"{root}/proc", "proc")
    bind("/sys", f"{root}/sys", read_only=False)
    make_devices(root)
    for one in plan["mounts"]:
        target = root + one["path"]
        if one.get("memory"):
            os.makedirs(target, exist_ok=True)
            mount("memory", target, "tmpfs",
                  options=f"size={one['size']}" if one.get("size") else None)
        else:
            bind(one["source"], target, one.get("read_only", False))


def enter_root(root):
    os.chdir(root)
    os.makedirs("old", exist_ok=True)
    if libc.syscall(155, b".", b"old") != 0:  # pivot_root, which no library has a name for
        raise OSError(ctypes.get_errno(), "pivot_root")
    os.chdir("/")
    if libc.umount2(b"/old", DETACH) != 0:
        raise OSError(ctypes.get_errno(), "umount")
    os.rmdir("/old")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    make_root(plan)
    enter_root(plan["root"])
    os.chdir(plan["folder"])
    try:
        os.execvpe(plan["command"][0], plan["command"], plan["environment"])
    except OSError as error:
        # As containerd says it: the kubelet makes StartError of it.
        print(f'exec: "{plan["command"][0]}": {error.strerror} in $PATH', file=sys.stderr)
        sys.exit(128)


if __name__ == "__main__":
    main()
