"""Runs the commands of a page as they stand in its ```console blocks, in order, in one folder in which
deploy/ is the repository's, and compares what they print.

    console_page.py PAGE [--section TITLE] [--write]

A command begins with "$ ", its further lines with "> ". A last line "..." stands for what else the command
prints. --section runs only what stands below that "## TITLE". --write puts what the commands print into the
page.
"""

import argparse
import difflib
import os
import subprocess
import sys
import tempfile


def blocks(lines, section):
    """(first, past) of the lines inside each console block."""
    begin, title = None, None
    for i, line in enumerate(lines):
        if line.startswith("## "):
            title = line[3:]
        elif line == "```console" and section in (None, title):
            begin = i + 1
        elif line == "```" and begin is not None:
            yield begin, i
            begin = None


def commands(lines):
    """The commands of a block, each as its lines and the lines that it prints on the page."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append(([line], []))
        elif line.startswith("> ") and found and not found[-1][1]:
            found[-1][0].append(line)
        else:
            found[-1][1].append(line)
    return found


def run(command, folder):
    script = "\n".join(line[2:] for line in command)
    done = subprocess.run(["bash", "-c", script], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120, check=False)
    return done.stdout.splitlines()


def as_shown(printed, shown):
    return printed[:len(shown) - 1] + ["..."] if shown[-1:] == ["..."] else printed


def page_as_run(lines, section, folder):
    out, last, count = [], 0, 0
    for begin, past in blocks(lines, section):
        out += lines[last:begin]
        for command, shown in commands(lines[begin:past]):
            out += command + as_shown(run(command, folder), shown)
            count += 1
        last = past
    return out + lines[last:], count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("--section")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    with open(asked.page, encoding="utf-8") as file:
        lines = file.read().splitlines()
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(os.environ["WEFT_SOURCE_DIR"], "deploy"),
                   os.path.join(folder, "deploy"))
        os.environ["PATH"] = os.path.dirname(os.environ["WEFT"]) + ":" + os.environ["PATH"]
        now, count = page_as_run(lines, asked.section, folder)
    if asked.write:
        with open(asked.page, "w", encoding="utf-8") as file:
            file.write("\n".join(now) + "\n")
    elif now != lines:
        sys.exit("\n".join(difflib.unified_diff(lines, now, "the page", "as run", lineterm="")))
    print(count, "commands")


if __name__ == "__main__":
    main()
