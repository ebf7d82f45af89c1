"""Gangs of three real workers under weft-run, each at a loopback address of its own.

weft_run_gangs.py WEFT_RUN FOLDER [SCENARIO...]: runs all scenarios, some beside each other.
"""

import concurrent.futures
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from slowness import slowness

WEFT_RUN, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
PATIENCE = 300.0  # of a machine with other work
PORT = 29600
# Silence that counts: longer than a parent may wait for a core, as many as want one.
HOLD = round(3 * min(6.0, slowness()))

# Writes down each start, and every process of another revision of its gang that is still alive.
TRAINER = r"""
others=0
for environ in $(grep -lzx "GANG=$GANG" /proc/[0-9]*/environ 2>/dev/null); do
  # Once: it may end at any time.
  variables=$(tr '\0' '\n' 2>/dev/null <"$environ") || continue
  revision=$(echo "$variables" | sed -n 's/^WEFT_REVISION=//p')
  case $variables in *TRAINER=yes*) ;; *) continue ;; esac
  [ "$revision" = "$WEFT_REVISION" ] || others=$((others + 1))
done
line="$RANK $WEFT_REVISION $MASTER_PORT $$ $others ${WEFT_RUN_TOKEN:-none} $PET_MASTER_PORT"
echo "$line" >>"$GANG/starts"
[ ! -e "$GANG/do.$RANK" ] || . "$GANG/do.$RANK"
exec sleep 1000
"""


def wait_for(what, condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.05)
    return value


class Gang:
    """Three workers; `do` maps a rank to shell text that its trainer runs after it has started."""

    def __init__(self, name, number, workers=3, do=None, token=None, command=None, **options):
        self.name, self.workers, self.token = name, workers, token
        self.command = command or ["env", "TRAINER=yes", "sh", "-c", TRAINER]
        self.folder = FOLDER / name
        self.folder.mkdir()
        self.network = f"127.{os.getpid() % 200 + 20}.{number}"
        self.options = {"heartbeat": 0.4, "grace": 1, "hold": HOLD, "limit": 60,
                        "contact_limit": 90, **options}
        self.addresses = [f"{self.network}.{rank + 1}" for rank in range(workers)]
        self.last_address = workers
        self.write_peers()
        for rank, text in (do or {}).items():
            self.do(rank, text)
        self.parents = [None] * workers
        self.all = []
        for rank in range(workers):
            self.start(rank)

    def do(self, rank, text):
        (self.folder / f"do.{rank}").write_text(text)

    def write_peers(self):
        new = self.folder / "peers.new"
        new.write_text("# worker 0 first\n" + "\n".join(self.addresses) + "\n")
        new.rename(self.folder / "peers")

    def start(self, rank, revision=0, token=None):
        environment = {"PATH": os.environ["PATH"], "GANG": str(self.folder), "RANK": str(rank),
                       "WEFT_WORKERS": str(self.workers), "WEFT_RUN_RANK": str(rank),
                       "WEFT_RUN_REVISION": str(revision)}
        if token or self.token:
            environment["WEFT_RUN_TOKEN"] = token or self.token
        reason = self.folder / f"reason.{len(self.all)}"
        reason.write_text("")
        command = [WEFT_RUN, "--peers-file", str(self.folder / "peers"), "--port", str(PORT),
                   "--bind", self.addresses[rank], "--termination-message", str(reason)]
        for option, value in self.options.items():
            command += [f"--{option.replace('_', '-')}", str(value)]
        log = open(self.folder / f"log.{rank}", "a", encoding="utf-8")
        parent = subprocess.Popen(command + ["--"] + self.command, env=environment,
                                  stderr=log, stdout=log)
        parent.reason = reason
        self.parents[rank] = parent
        self.all.append(parent)
        return parent

    def move(self, rank):
        """The replacement has another address under the same name."""
        self.last_address += 1
        self.addresses[rank] = f"{self.network}.{self.last_address}"
        self.write_peers()

    def starts(self):
        file = self.folder / "starts"
        return [line.split() for line in file.read_text().splitlines()] if file.exists() else []

    def ranks_at(self, revision):
        return sorted(int(one[0]) for one in self.starts() if int(one[1]) == revision)

    def expect_all_at(self, revision):
        want = list(range(self.workers))
        wait_for(f"{self.name}: all at revision {revision}, {self.starts()}",
                 lambda: self.ranks_at(revision) == want)
        ports = {(one[2], one[6]) for one in self.starts() if int(one[1]) == revision}
        port = str(PORT + revision % 16)
        assert ports == {(port, port)}, ports
        assert all(one[4] == "0" for one in self.starts()), f"two revisions met: {self.starts()}"

    def trainer_of(self, rank):
        return [int(one[3]) for one in self.starts() if int(one[0]) == rank][-1]

    def lose(self, rank):
        """The node is gone with all its processes."""
        self.parents[rank].kill()
        self.kill_processes({b"WEFT_RUN_RANK=%d" % rank})
        self.parents[rank].wait()

    def kill_trainer(self, rank):
        try:
            os.kill(self.trainer_of(rank), signal.SIGKILL)
        except ProcessLookupError:
            pass

    def call(self, rank, method, path, token=None):
        request = urllib.request.Request(f"http://{self.addresses[rank]}:{PORT - 1}{path}",
                                         method=method)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def state(self, rank):
        return self.call(rank, "GET", "/state", self.token)[1]

    def expect_code(self, parent, code, reason=""):
        assert parent.wait(PATIENCE) == code, (self.name, parent.returncode, code)
        got = parent.reason.read_text()
        assert reason in got and (got == "") == (reason == ""), (self.name, got)

    def end(self):
        for parent in self.all:
            if parent.poll() is None:
                parent.send_signal(signal.SIGCONT)
                parent.kill()
                parent.wait()
        self.kill_processes(set())

    def kill_processes(self, variables):
        """Those of this gang that have all these variables."""
        marks = {f"GANG={self.folder}".encode(), *variables}
        for environ in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if marks <= set(environ.read_bytes().split(b"\0")):
                    os.kill(int(environ.parent.name), signal.SIGKILL)
            except OSError:
                pass  # has ended


def worker_is_lost(gang):
    gang.expect_all_at(0)
    kept = [gang.parents[0].pid, gang.parents[2].pid]
    gang.lose(1)
    time.sleep(0.3)
    gang.start(1, revision=1)
    gang.expect_all_at(1)
    assert [gang.parents[0].pid, gang.parents[2].pid] == kept
    # Two at once, one of them by hand, with no revision given.
    gang.lose(1)
    gang.lose(2)
    gang.start(2, revision=1)
    gang.start(1, revision=2)
    wait_for("revision 2 or 3", lambda: [0, 1, 2] in (gang.ranks_at(2), gang.ranks_at(3)))
    assert all(one[4] == "0" for one in gang.starts()), gang.starts()


def worker_0_is_lost(gang):
    gang.expect_all_at(0)
    gang.lose(0)
    gang.move(0)
    gang.start(0, revision=1)
    gang.expect_all_at(1)
    # The same without a reset: the old parent is silent.
    old = gang.parents[0]
    old.send_signal(signal.SIGSTOP)
    gang.kill_trainer(0)
    gang.move(0)
    gang.start(0, revision=2)
    gang.expect_all_at(2)
    gang.parents[0].send_signal(signal.SIGTERM)
    gang.expect_code(gang.parents[0], 128 + signal.SIGTERM)


def stubborn_trainer(gang):
    gang.expect_all_at(0)
    begin = time.monotonic()
    status, state = gang.call(1, "POST", "/stop?revision=5")
    assert status == 200 and state["revision"] == 5, state
    gang.expect_all_at(5)
    assert time.monotonic() - begin >= 1, "no grace"
    assert gang.call(0, "POST", "/stop?revision=4")[0] == 409
    assert gang.state(2)["phase"] == "running"
    assert gang.state(2)["pid"] == gang.trainer_of(2)


def silent_worker(gang):
    gang.expect_all_at(0)
    paused = gang.parents[2]
    paused.send_signal(signal.SIGSTOP)
    gang.call(1, "POST", "/stop?revision=1")
    wait_for("worker 2 is missed", lambda: gang.state(0)["missing"] == 1)
    wait_for("worker 1 is down", lambda: gang.state(1)["phase"] == "down")
    time.sleep(0.5)
    assert gang.ranks_at(1) == [], "started beside the trainer of a silent worker"
    paused.send_signal(signal.SIGCONT)
    gang.expect_all_at(1)
    # One that was replaced meanwhile ends when it comes back.
    paused.send_signal(signal.SIGSTOP)
    gang.kill_trainer(2)
    gang.move(2)
    gang.start(2, revision=2)
    gang.expect_all_at(2)
    paused.send_signal(signal.SIGCONT)
    gang.expect_code(paused, 75, "Replaced: another parent is worker 2 now")
    assert gang.state(0)["startedRevision"] == 2 and gang.state(0)["missing"] == 0


def own_failure(gang):
    for rank, code in enumerate((3, 7, 128 + signal.SIGKILL)):
        gang.expect_code(gang.parents[rank], code)
    gang.expect_all_at(0)


def success(gang):
    for parent in gang.parents:
        gang.expect_code(parent, 0)


def restarts(gang):
    gang.expect_all_at(1)
    gang.expect_code(gang.parents[1], 9)
    gang.expect_all_at(1)


def late(gang):
    gang.expect_all_at(0)
    gang.lose(1)
    gang.call(0, "POST", "/stop?revision=1")
    for rank in (0, 2):
        gang.expect_code(gang.parents[rank], 75, "revision 1 has not started within 3 s")


def unreachable(gang):
    gang.expect_all_at(0)
    gang.lose(0)
    gang.expect_code(gang.parents[1], 75,
                     f"Unreachable: no contact to worker 0's parent for {HOLD} s")


def tokens(gang):
    gang.expect_all_at(0)
    assert all(one[5] == "none" for one in gang.starts()), "the trainer sees the token"
    assert gang.call(0, "GET", "/state")[0] == 401
    assert gang.call(0, "POST", "/stop?revision=1", "wrong")[0] == 401
    assert gang.call(0, "GET", "/else", gang.token)[0] == 404
    for text in (b"weft-run/1 wrong report 1 3 9 1 9 down -1\n", b"\0" * 5000,
                 b"weft-run/1 " * 9999, b"GET / HTTP/1.1\r\n" * 900,
                 b"weft-run/1 secret report 1 3 9 1 9 down 99999999999\n",
                 b"weft-run/1 secret report 0 3 9 1 9 down -1\n"):
        with socket.create_connection((gang.addresses[0], PORT - 1), timeout=15) as link:
            try:
                link.sendall(text)
                while link.recv(4096):
                    pass
            except OSError:
                pass  # closed with a reset: what was sent was not all read
    assert gang.state(0)["revision"] == 0 and gang.state(0)["inContact"]
    gang.lose(1)
    gang.options["limit"] = 2
    stranger = gang.start(1, revision=1, token="wrong")
    gang.expect_code(stranger, 75, "no contact to worker 0's parent")
    gang.options["limit"] = 60
    gang.start(1, revision=1)
    gang.expect_all_at(1)


STUBBORN = "trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 1000' & sleep 1000 & wait; wait\n"
SCENARIOS = {
    worker_is_lost: {},
    worker_0_is_lost: {},
    stubborn_trainer: {"do": {1: STUBBORN}},
    silent_worker: {},
    own_failure: {"do": {0: "exit 3", 1: "exit 7", 2: "kill -9 $$"}},
    success: {"do": {0: "exit 0", 1: "sleep 1; exit 0", 2: "exit 0"}},
    restarts: {"do": {1: "sleep 1; exit 9"}, "restarts": 1},
    late: {"limit": 3},
    unreachable: {"workers": 2, "contact_limit": HOLD},
    tokens: {"token": "secret"},
}


def run(scenario):
    gang = Gang(scenario.__name__, list(SCENARIOS).index(scenario), **SCENARIOS[scenario])
    try:
        scenario(gang)
        return None
    except BaseException as error:  # pylint: disable=broad-except
        logs = "".join(f"--- {log.name}\n{log.read_text()}"
                       for log in sorted(gang.folder.glob("log.*")))
        return f"FAILED {scenario.__name__}: {error!r}\nstarts: {gang.starts()}\n{logs}"
    finally:
        gang.end()


def main():
    chosen = [one for one in SCENARIOS if not sys.argv[3:] or one.__name__ in sys.argv[3:]]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        failures = [text for text in pool.map(run, chosen) if text]
    for text in failures:
        print(text, file=sys.stderr)
    print(f"{len(chosen) - len(failures)} of {len(chosen)} gangs behaved")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
