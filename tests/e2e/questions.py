"""Runs the commands of a page as they stand in its ```console blocks, in order, in one folder in which
deploy/ is the repository's, and compares what they print.

    questions.py PAGE [--write]

A command begins with "$ ", its further lines with "> ". --write puts what the commands print into the page.
"""

import difflib
import os
import subprocess
import sys
import tempfile


def blocks(lines):
    """(first, past) of the lines inside each console block."""
    begin = None
    for i, line in enumerate(lines):
        if line == "```console":
            begin = i + 1
        elif line == "```" and begin is not None:
            yield begin, i
            begin = None


def commands(lines):
    """The commands of a block, each as its lines."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append([line])
        elif line.startswith("> ") and found:
            found[-1].append(line)
    return found


def run(command, folder):
    script = "\n".join(line[2:] for line in command)
    done = subprocess.run(["bash", "-c", script], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120, check=False)
    return done.stdout.splitlines()


def page_as_run(lines, folder):
    out, last = [], 0
    for begin, past in blocks(lines):
        out += lines[last:begin]
        for command in commands(lines[begin:past]):
            out += command + run(command, folder)
        last = past
    return out + lines[last:]


def main():
    page, write = sys.argv[1], "--write" in sys.argv[2:]
    with open(page, encoding="utf-8") as file:
        lines = file.read().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(os.environ["WEFT_SOURCE_DIR"], "deploy"),
                   os.path.join(folder, "deploy"))
        os.environ["PATH"] = os.path.dirname(os.environ["WEFT"]) + ":" + os.environ["PATH"]
        now = page_as_run(lines, folder)
    if write:
        with open(page, "w", encoding="utf-8") as file:
            file.write("\n".join(now) + "\n")
    elif now != lines:
        sys.exit("\n".join(difflib.unified_diff(lines, now, "the page", "as run", lineterm="")))
    print(sum(len(commands(lines[begin:past])) for begin, past in blocks(lines)), "commands")


if __name__ == "__main__":
    main()
