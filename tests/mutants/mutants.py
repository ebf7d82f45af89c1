#!/usr/bin/env python3
"""Counts how many small changes of the code the unit tests notice.

A mutant is one change in a module that decides: < becomes <=, == becomes !=, + becomes -, && becomes ||,
a constant becomes one more, a condition is negated, or a call is removed. Prints every mutant that the
tests do not notice, and the share that they catch, by module.

    mutants.py                      a sample of 400 mutants, chosen by --seed
    mutants.py --all                every mutant (6,000; many hours)
    mutants.py --modules search     only mutants of these modules
    mutants.py --at operator/search/fill.cc:51
                                    the mutants of these lines, separated by commas
    mutants.py --list               prints the mutants and builds nothing

Works on a copy of the checkout in --folder. All mutants are compiled into one build, and a process
switches one of them on (switch.h): a mutant costs one run of the tests that reach it, quick ones first.
Results are kept in --folder: a caught mutant is not tried again until its file changes, and one that
survived is not tried again until a test changes. A mutant whose tests take several times longer than
usual counts as caught ("timed out"). equivalent.txt lists mutants that no test can catch, with the
reason; they are left out. The exit status is 1 if the tests catch less than LEAST_PERCENT.

Not changed, because no test can see them: arguments of WEFT_CHECK, WEFT_DCHECK, static_assert and reserve, defaults
of a struct's fields, and the constants that say how far a search looks (cpp_source.py)."""

import argparse
import concurrent.futures
import difflib
import hashlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import threading

from cpp_source import Source

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# A file's mutants are numbered from a multiple of this, so that a change of one file rebuilds no other.
NUMBERS_OF_A_FILE = 384
NUMBERS = 1 << 17  # kMost of switch.h
MODULES = ("rules", "objective", "bound", "search", "placement", "traffic", "cluster", "predict",
           "plan")
LEAST_PERCENT = 85
SAMPLE = 400
ROUNDS = 25  # builds, each without the mutants that the one before could not compile
# The tests of a program run in groups, fastest first: a group ends at so many seconds. Most mutants are
# caught by the first.
GROUP_SECONDS = (0.2, 1, 5)
# Processor time of a group: what it takes unchanged, several times over, and a start.
LIMIT_TIMES, LIMIT_SECONDS = 8, 5
LIMIT_BYTES = 4 << 30
# A process that waits for ever takes no processor time. Far above it on a machine that is not idle.
WALL_TIMES = 100
# Of what a compiler says of one file, the first error and these name the line that is to blame.
PLAIN_ERROR = re.compile("constexpr|constant|no match for|ambiguous|invalid operands|narrowing")
MESSAGE = re.compile(r"(operator/\w+/\w+\.\w+):(\d+):\d+: (error|note): (.*)")
PLAIN_NOTE = re.compile("constexpr|constant|declared here")
COMPILER = re.compile(r"\+\+(-\d+)?$")
CAUGHT, TIMED_OUT, SURVIVED = "caught", "timed out", "survived"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    """Whether the file changes. Leaves its time alone where it does not, for ninja."""
    if os.path.exists(path) and read(path) == text:
        return False
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return True


def digest(*texts):
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


class Mutants:
    """Every mutant of the modules, and the sources they are of."""

    def __init__(self, modules):
        self.sources = {}
        self.sites = []
        for module in modules:
            folder = os.path.join(ROOT, "operator", module)
            for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
                if name.endswith((".cc", ".h")):
                    self._read(os.path.join("operator", module, name))

    def _read(self, path):
        source = Source(path, read(os.path.join(ROOT, path)))
        first = len(self.sources) * NUMBERS_OF_A_FILE
        self.sources[path] = source
        if len(source.sites) > NUMBERS_OF_A_FILE or first + NUMBERS_OF_A_FILE > NUMBERS:
            sys.exit(f"mutants.py: no numbers are left for the mutants of {path}")
        for number, site in enumerate(source.sites):
            site.id, site.module = first + number, path.split("/")[1]
            site.key = digest(source.text, path, str(site.start), site.kind, site.new)
            self.sites.append(site)

    def of(self, modules):
        return [site for site in self.sites if site.module in modules]

    def show(self, site):
        """The mutant as a diff of its lines."""
        source = self.sources[site.file]
        text = source.text
        begin = text.rfind("\n", 0, site.start) + 1
        end = text.find("\n", site.end)
        new = text[begin:site.start] + site.new + text[site.end:end]
        lines = difflib.ndiff(text[begin:end].split("\n"), new.split("\n"))
        return [line.rstrip() for line in lines if line[0] in "+-"]


def equivalent(mutants):
    """The ids of the mutants in equivalent.txt. A block there is a file, the lines as print_survivors()
    shows them, and the reason. A block that fits no mutant is named on standard error."""
    known = {}
    for block in read(os.path.join(HERE, "equivalent.txt")).split("\n\n"):
        lines = [line.strip() for line in block.strip().split("\n") if not line.startswith("#")]
        if lines and lines[0]:
            known[(lines[0], *(normal(line) for line in lines[1:] if line[0] in "+-"))] = False
    ids = set()
    for site in mutants.sites:
        key = (site.file, *(normal(line) for line in mutants.show(site)))
        if key in known:
            known[key] = True
            ids.add(site.id)
    for key in (key for key, found in known.items() if not found):
        if key[0] in mutants.sources:
            print("equivalent.txt: there is no such mutant:", *key, sep="\n  ", file=sys.stderr)
    return ids


def normal(line):
    return " ".join(line.split())


class Build:
    """A copy of the checkout with all mutants in it, and its test programs."""

    def __init__(self, folder, mutants, programs, jobs):
        self.source, self.build = os.path.join(folder, "source"), os.path.join(folder, "build")
        self.mutants, self.programs, self.jobs = mutants, programs, jobs
        self.known = os.path.join(folder, "not-compiling.json")
        keys = set(json.loads(read(self.known))) if os.path.exists(self.known) else set()
        self.without = {site.id for site in mutants.sites if site.key in keys}
        self.unchecked = []  # sources that may have mutants which do not compile

    def copy(self):
        """Copies the checkout, uncommitted files too, except the sources that write_mutants() writes."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode()
        wanted = {path for path in listed.split("\0")
                  if path and os.path.lexists(os.path.join(ROOT, path))}
        for path in wanted - set(self.mutants.sources):
            self._copy(os.path.join(ROOT, path), path)
        for program in self.programs:
            path = f"tests/unit/{program}/reach_test.cc"
            self._copy(os.path.join(HERE, "reach.cc"), path)
            wanted.add(path)
        for folder, _, names in os.walk(self.source):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), self.source)
                if path not in wanted:
                    os.remove(os.path.join(self.source, path))

    def _copy(self, source, path):
        target = os.path.join(self.source, path)
        if os.path.lexists(target):
            if os.path.islink(source):
                return
            with open(source, "rb") as one, open(target, "rb") as other:
                if one.read() == other.read():
                    return
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target, follow_symlinks=False)

    def write_mutants(self):
        """The paths of the files that change."""
        return {path for path, source in self.mutants.sources.items()
                if write(os.path.join(self.source, path), source.mutated(self.without))}

    def make(self):
        """Builds; what cannot be compiled is left out, round by round."""
        self.copy()
        changed = self.write_mutants()
        headers = any(path.endswith(".h") for path in changed)
        self.unchecked = [path for path in self.mutants.sources
                          if path.endswith(".cc") and (headers or path in changed)]
        header = os.path.join(self.source, "tests/mutants/switch.h")
        subprocess.run(["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja",
                        "-DCMAKE_BUILD_TYPE=Mutants", "-DWEFT_BENCH=OFF", "-DWEFT_TESTS=ON",
                        f"-DCMAKE_CXX_FLAGS=-O1 -w -Wno-narrowing -include {header}"],
                       check=True, stdout=subprocess.DEVNULL)
        self._rounds(self._check)
        self._rounds(self._compile)

    def _rounds(self, attempt):
        """Calls attempt() until no file fails. It returns the compiler's messages for each that does."""
        for _ in range(ROUNDS):
            failures = attempt()
            if not failures:
                return
            if not self._leave_out(failures):
                sys.exit(failures[0][-4000:] + "mutants.py: no mutant is to blame for these errors")
            self.write_mutants()
        sys.exit(f"mutants.py: errors still after {ROUNDS} rounds; see {self.build}")

    def _check(self):
        """Only parses: a header's error costs no second build of what includes it."""
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            commands = {os.path.relpath(one["file"], self.source): one for one in json.load(file)}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            errors = list(pool.map(lambda path: self._parse(commands[path]), self.unchecked))
        self.unchecked = [path for path, error in zip(self.unchecked, errors) if error]
        return [error for error in errors if error]

    def _parse(self, command):
        words = shlex.split(command["command"])
        compiler = next(i for i, word in enumerate(words) if COMPILER.search(word))
        words = words[compiler:words.index("-o")]
        done = subprocess.run([*words, "-fsyntax-only", command["file"]], cwd=command["directory"],
                              capture_output=True, text=True, check=False)
        return done.stderr if done.returncode != 0 else ""

    def _compile(self):
        targets = [f"{program}_test" for program in self.programs]
        command = ["ninja", "-C", self.build, "-k", "0", "-j", str(self.jobs), *targets]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        return made.stdout.split("FAILED: ")[1:] if made.returncode != 0 else []

    def _leave_out(self, failures):
        """The mutants of lines with errors, and of what those lines use. Whether there are any."""
        lines = set()
        for failed in failures:
            first = True
            for match in MESSAGE.finditer(failed):
                about = PLAIN_ERROR if match[3] == "error" else PLAIN_NOTE
                if "not usable in a constant expression" in match[4]:
                    first = False  # the note behind it names the constant
                elif (match[3] == "error" and first) or about.search(match[4]):
                    lines.add((match[1], int(match[2])))
                first = first and match[3] != "error"
        blamed = {site.id for site in self.mutants.sites if self._touches(site, lines)}
        new = blamed - self.without
        self.without |= new
        write(self.known, json.dumps([site.key for site in self.mutants.sites
                                      if site.id in self.without]))
        return bool(new)

    def _touches(self, site, lines):
        source = self.mutants.sources[site.file]
        return any((site.file, line) in lines
                   for line in range(site.line, source.line(site.end) + 1))

    def program(self, name):
        return os.path.join(self.build, "tests", f"{name}_test")


class Tests:
    """Which tests reach which mutant, and how long each takes."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.seconds = {}  # (program, test) -> processor time of the unchanged code
        self.reach = {}    # mutant -> [(program, test)]
        self.impossible = set()
        for program in build.programs:
            self._trace(program)

    def _trace(self, program):
        path = os.path.join(self.folder, f"{program}.reach")
        done = subprocess.run([self.build.program(program), "--gtest_brief=1"], check=False,
                              env={**os.environ, "WEFT_MUTANTS_REACHED": path}, capture_output=True,
                              text=True)
        if done.returncode != 0:
            sys.exit(done.stdout[-4000:] + f"mutants.py: {program}_test fails without a mutant")
        everywhere, tests = set(), []
        with open(path, encoding="utf-8") as file:
            for line in file:
                name, milliseconds, *ids = line.split()
                if name == "*":
                    everywhere.update(map(int, ids))
                elif name == "!":
                    self.impossible.update(map(int, ids))
                else:
                    tests.append(((program, name), set(map(int, ids))))
                    self.seconds[program, name] = int(milliseconds) / 1000
        for test, ids in tests:
            for mutant in ids | everywhere:
                self.reach.setdefault(mutant, []).append(test)

    def groups(self, mutant, module):
        """The tests that reach it as [(program, names, seconds)]: quick ones, then its module's, first."""
        steps = {}
        for program in self.build.programs:
            spent = 0
            reaching = [test for test in self.reach.get(mutant, []) if test[0] == program]
            for test in sorted(reaching, key=lambda test: (self.seconds[test], test)):
                spent += self.seconds[test]
                step = sum(spent > most for most in GROUP_SECONDS)
                key = (step, program != module, program)
                names, seconds = steps.get(key, ([], 0))
                steps[key] = (names + [test[1]], seconds + self.seconds[test])
        return [(key[2], *steps[key]) for key in sorted(steps)]


def limit(seconds):
    def before_start():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return before_start


def run_group(build, folder, mutant, group):
    """SURVIVED, or how the group noticed."""
    program, names, seconds = group
    flags = os.path.join(folder, f"flags-{threading.get_ident()}")
    with open(flags, "w", encoding="utf-8") as file:
        file.write("--gtest_filter=" + ":".join(names) + "\n")
    most = int(LIMIT_SECONDS + LIMIT_TIMES * seconds)
    try:
        done = subprocess.run(
            [build.program(program), f"--gtest_flagfile={flags}", "--gtest_brief=1",
             "--gtest_fail_fast"],
            env={**os.environ, "WEFT_MUTANT": str(mutant)}, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=limit(most), timeout=most * WALL_TIMES,
            check=False)
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    if done.returncode in (-24, -9):  # SIGXCPU, and what follows it
        return TIMED_OUT
    return CAUGHT if done.returncode != 0 else SURVIVED


def try_mutant(build, tests, folder, site):
    for group in tests.groups(site.id, site.module):
        result = run_group(build, folder, site.id, group)
        if result != SURVIVED:
            return result
    return SURVIVED


class Results:
    """What is known from earlier runs, and what this one finds, written at once."""

    def __init__(self, folder, tests_digest):
        self.path, self.tests = os.path.join(folder, "results.jsonl"), tests_digest
        self.known = {}
        self.lock = threading.Lock()
        if os.path.exists(self.path):
            for line in read(self.path).splitlines():
                entry = json.loads(line)
                self.known[entry["key"]] = entry

    def of(self, site):
        entry = self.known.get(site.key)
        if entry and (entry["result"] != SURVIVED or entry["tests"] == self.tests):
            return entry["result"]
        return None

    def add(self, site, result):
        entry = {"key": site.key, "result": result, "tests": self.tests}
        with self.lock, open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            self.known[site.key] = entry


def digest_of_tests(programs):
    texts = sorted(programs)
    for folder in ("tests/unit", "tests/support"):
        for place, _, names in sorted(os.walk(os.path.join(ROOT, folder))):
            texts += [read(os.path.join(place, name)) for name in sorted(names)]
    return digest(*texts)


def choose(sites, skip, count, seed):
    """So many of those that are not in `skip`: one by chance of each stretch of the sources."""
    possible = [site for site in sites if site.id not in skip]
    if count is None or count >= len(possible):
        return possible
    chance, stretch = random.Random(seed), len(possible) / count
    return [possible[int((k + chance.random()) * stretch)] for k in range(count)]


def at_lines(sites, lines):
    """The mutants of lines that are written as FILE:LINE."""
    unknown = set(lines) - {f"{site.file}:{site.line}" for site in sites}
    if unknown:
        sys.exit(f"mutants.py: there is no mutant at {', '.join(sorted(unknown))}")
    return [site for site in sites if f"{site.file}:{site.line}" in lines]


def try_all(chosen, build, tests, results, folder, jobs):
    todo = [site for site in chosen if results.of(site) is None]
    print(f"{len(chosen)} mutants, {len(todo)} of them not tried before", flush=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(try_mutant, build, tests, folder, site): site for site in todo}
        for done, future in enumerate(concurrent.futures.as_completed(running), 1):
            results.add(running[future], future.result())
            if done % 20 == 0:
                print(f"{done} of {len(todo)}", file=sys.stderr, flush=True)


def share(caught, tried):
    return f"{100 * caught / tried:.1f} %" if tried else "-"


def print_table(sites, chosen, skip, tests, results):
    """One line for each module. Returns the share of all that are caught, in percent."""
    head = ("module", "mutants", "left out", "tried", "caught", "timed out", "survived",
            "survived unreached", "share caught")
    rows, tried = [], {site.id for site in chosen}
    for module in dict.fromkeys(site.module for site in sites):
        own = [site for site in sites if site.module == module]
        own_tried = [site for site in own if site.id in tried]
        rows.append(row(module, own, own_tried, skip, tests, results))
    rows.append(row("all", sites, chosen, skip, tests, results))
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for cells in rows:
        print("| " + " | ".join(map(str, cells)) + " |")
    tried, caught, timed_out = rows[-1][3:6]
    return 100 * (caught + timed_out) / max(tried, 1)


def row(name, own, chosen, skip, tests, results):
    outcome = [results.of(site) for site in chosen]
    unreached = sum(results.of(site) == SURVIVED and site.id not in tests.reach for site in chosen)
    caught, timed_out = outcome.count(CAUGHT), outcome.count(TIMED_OUT)
    return (name, len(own), sum(site.id in skip for site in own), len(chosen), caught, timed_out,
            outcome.count(SURVIVED), unreached, share(caught + timed_out, len(chosen)))


def print_survivors(mutants, chosen, tests, results):
    for site in chosen:
        if results.of(site) == SURVIVED:
            reached = "" if site.id in tests.reach else ": no test reaches it"
            print(f"\n{site.file}:{site.line}: {site.kind}{reached}")
            print("\n".join("  " + line for line in mutants.show(site)))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="chooses the sample (default: 1)")
    parser.add_argument("--sample", type=int, default=SAMPLE,
                        help=f"number of mutants, spread over all files (default: {SAMPLE})")
    parser.add_argument("--all", action="store_true", help="try every mutant")
    parser.add_argument("--at", help="try every mutant of these lines instead: FILE:LINE,...")
    parser.add_argument("--modules", default=",".join(MODULES),
                        help="modules to change, separated by commas (default: %(default)s)")
    parser.add_argument("--tests", default=",".join(MODULES),
                        help="modules whose unit tests are run (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--folder", default=os.path.join(ROOT, "build-mutants"),
                        help="for the copy, the build and the results (default: build-mutants)")
    parser.add_argument("--list", action="store_true", help="print the mutants and exit")
    return parser.parse_args()


def main():
    args = arguments()
    modules = args.modules.split(",")
    # In one order: a mutant has the same number, and its file the same text, whatever is asked for.
    mutants = Mutants([*MODULES, *(module for module in modules if module not in MODULES)])
    sites = mutants.of(modules)
    if args.at:
        sites = at_lines(sites, args.at.split(","))
    if args.list:
        for site in sites:
            print(f"{site.file}:{site.line}: {site.kind}", *mutants.show(site), sep="\n  ")
        return 0
    os.makedirs(args.folder, exist_ok=True)
    build = Build(args.folder, mutants, args.tests.split(","), args.jobs)
    build.make()
    tests = Tests(build, args.folder)
    skip = build.without | tests.impossible | equivalent(mutants)
    results = Results(args.folder, digest_of_tests(build.programs))
    chosen = choose(sites, skip, None if args.all or args.at else args.sample, args.seed)
    print("--at" if args.at else "--all" if args.all else f"--seed {args.seed} --sample {args.sample}",
          end=": ")
    try_all(chosen, build, tests, results, args.folder, args.jobs)
    print_survivors(mutants, chosen, tests, results)
    print()
    percent = print_table(sites, chosen, skip, tests, results)
    return 0 if percent >= LEAST_PERCENT else 1


if __name__ == "__main__":
    sys.exit(main())
