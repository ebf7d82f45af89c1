"""Short stories, each in a namespace of its own, in which every law of the rig is at stake at least
once. A healthy operator breaks none of them; seeded.py shows that each planted bug does."""

import fcntl
import os
import signal

import paths  # noqa: F401  pylint: disable=unused-import
from operator_lib import GPUS, MERGE, QUIET_NODES, condition, poll
from rules import Rule

NODES = 32
CYCLES = 10
JOBS_OF_A_CYCLE = 4
GROWTH = 1.10  # of memory from the third cycle to the last
FEW_DESCRIPTORS = 4  # more than at the third cycle: connections come and go
HANDOVER_SECONDS = 3
TAKEOVER_SECONDS = 20
PIPE_BYTES = 4096
STALE = ("pods", "trainingjobs", "placements", "services")


def plain(rig, space):
    """A job comes, runs and is Complete; another is deleted while it runs."""
    rig.apply(space, "ends", 2, 1)
    rig.apply(space, "stays", 2, annotations={"weft.test/stop-seconds": "1"})
    rig.until_ended(space, "ends")
    rig.cluster.until_running(space, "stays")
    rig.cluster.delete("trainingjobs", space, "stays")
    rig.cluster.until_no_job(space, "stays")


def a_pod_is_lost(rig, space):
    """The whole gang starts anew, and nothing of the old is left when it does."""
    rig.apply(space, "job", 2, annotations={"weft.test/stop-seconds": "1"})
    rig.cluster.until_running(space, "job")
    rig.cluster.delete("pods", space, "job-1-0")
    rig.cluster.until_running(space, "job", attempt=2)
    rig.cluster.delete("pods", space, "job-2-0")
    rig.cluster.until_running(space, "job", attempt=3)


def the_program_fails(rig, space):
    """It is started once more, as the policy says, and then the job has failed for good."""
    rig.apply(space, "job", 2, annotations={"weft.test/exit-code": "1"},
              failurePolicy={"maxRestarts": 1})
    rig.until_ended(space, "job", "Failed")
    rig.apply(space, "after", 2, 1)
    rig.until_ended(space, "after")


def a_foreign_service(rig, space):
    """Somebody's Service has the job's name: the job waits until it is gone."""
    rig.cluster.create("services", {
        "metadata": {"name": "job", "namespace": space},
        "spec": {"clusterIP": "None", "selector": {"app": "other"}}})
    rig.apply(space, "job", 2)
    rig.until_asked("create", "services", space, status=409)
    rig.cluster.delete("services", space, "job")
    rig.cluster.until("it runs", lambda: (condition(rig.cluster.job(space, "job"), "PodsReady")
                                          or {}).get("status") == "True")


def a_leader_cut_off(rig, space):
    """Its Lease is out of its reach: another takes over, and the first writes no more. Jobs are
    begun and ended for long enough that a write of the first would come when it has no excuse."""
    standby = rig.start_operator(f"{rig.name}-standby", **rig.how)
    rig.until_led()
    first = rig.leader()
    rig.plan.set(Rule("no lease", "drop", resources=("leases",), clients=(first.name,)))
    rig.until_led([one for one in rig.operators if one is not first], 40)
    for turn in range(3):
        for number in range(3):
            rig.apply(space, f"job-{turn}-{number}", 2, 2)
        for number in range(3):
            rig.until_ended(space, f"job-{turn}-{number}")
    rig.plan.set()
    return standby


def a_rule_that_only_the_scheduler_knows(rig, space):
    """A gang that is partly bound is undone at the deadline, and placed elsewhere."""
    rig.apply(space, "probe", 2)
    rig.cluster.until_running(space, "probe")
    taken = rig.cluster.pods(space, "probe")[1]["spec"]["nodeName"]
    rig.cluster.delete("trainingjobs", space, "probe")
    rig.cluster.until_no_job(space, "probe")
    rig.cluster.make_noisy(taken)
    rig.apply(space, "job", 2, template={"schedulerName": QUIET_NODES})
    rig.cluster.until_running(space, "job", attempt=2)


def a_quota_that_comes_and_goes(rig, space):
    """Refused by admission: told so, tried again with pauses, and started when it may."""
    rig.cluster.create("resourcequotas", {"metadata": {"name": "none", "namespace": space},
                                          "spec": {"hard": {"pods": "0"}}})
    poll(lambda: rig.cluster.get("resourcequotas", space, "none").get("status"), "it is in force")
    rig.apply(space, "job", 2)
    rig.cluster.until("the job tells of the quota", lambda: "quota" in str(
        (rig.cluster.job(space, "job") or {}).get("status")))
    rig.until_asked("create", "pods", space, times=4)
    rig.cluster.delete("resourcequotas", space, "none")
    rig.cluster.until("it runs", lambda: (condition(rig.cluster.job(space, "job"), "PodsReady")
                                          or {}).get("status") == "True", 90)


def end_pod(rig, space, name):
    rig.cluster.patch("pods", space, name,
                      {"metadata": {"annotations": {"weft.test/run-seconds": "0"}}})


def one_worker_ends_before_the_other(rig, space):
    """The job is Complete when both have."""
    rig.apply(space, "job", 2)
    rig.cluster.until_running(space, "job")
    end_pod(rig, space, "job-1-0")
    rig.cluster.until("one has succeeded", lambda: (rig.cluster.job(space, "job")["status"].get(
        "workers") or {}).get("succeeded") == 1)
    end_pod(rig, space, "job-1-1")
    rig.until_ended(space, "job")


def a_version_that_is_gone(rig, space):
    """A deletion falls into the hole between a watch and the next list: it is noticed all the same."""
    rig.cluster.create("pods", {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "foreign", "namespace": space},
        "spec": {"containers": [{"name": "c", "image": "registry.example/other:1",
                                 "resources": {"limits": {GPUS: 8}}}]}})
    poll(lambda: used_gpus(rig.leader()) >= 8, "the operator counts the pod")
    poll(lambda: rig.proxy.follows("pods"), "the operator follows pods")
    rig.proxy.hold("pods")
    rig.cluster.delete("pods", space, "foreign")
    rig.cluster.until("it is gone", lambda: not rig.cluster.history.now("pods", space, "foreign"))
    rig.plan.set(Rule("gone", "gone", resources=("pods",), most=1))
    rig.proxy.hold()
    rig.judge_truth()
    rig.plan.set()


def used_gpus(operator):
    """As the operator's copy of the cluster has it."""
    return sum(value for (name, labels), value in operator.metrics().items()
               if name == "weft_fabric_accelerators" and 'state="used"' in labels)


def jobs_in_and_out(rig, space):
    """Ten cycles of jobs that come and go: memory and descriptors stay flat."""
    sizes = []
    for cycle in range(CYCLES):
        names = [f"job-{cycle}-{number}" for number in range(JOBS_OF_A_CYCLE)]
        for name in names:
            rig.apply(space, name, 1, 0)
        for name in names:
            rig.until_ended(space, name)
            rig.cluster.delete("trainingjobs", space, name)
        for name in names:
            rig.cluster.until_no_job(space, name)
        leader = rig.leader()
        sizes.append((leader.resident_kib(), leader.descriptors()))
    (begin, opened), (end, open_now) = sizes[2], sizes[-1]
    rig.figures["resident KiB after cycles 3 and 10"] = f"{begin}, {end}"
    rig.figures["descriptors after cycles 3 and 10"] = f"{opened}, {open_now}"
    if end > begin * GROWTH or open_now > opened + FEW_DESCRIPTORS:
        rig.say("I19", f"KiB and descriptors by cycle: {sizes}")


def pods_that_take_long_to_end(rig, space):
    """Their nodes are not planned again before they are gone."""
    rig.apply(space, "first", NODES, annotations={"weft.test/stop-seconds": "4"})
    rig.cluster.until_running(space, "first")
    rig.apply(space, "second", NODES // 2, 0)
    rig.cluster.until_condition(space, "second", "Placed", "False", "InsufficientCapacity")
    rig.cluster.delete("trainingjobs", space, "first")
    rig.until_ended(space, "second")


def a_job_that_is_too_large(rig, space):
    """It is told why, and others go on."""
    rig.apply(space, "large", NODES + 1)
    rig.apply(space, "small", 1, 1)
    rig.until_ended(space, "small")
    rig.cluster.until_condition(space, "large", "Placed", "False", "InsufficientCapacity")


def an_odd_object(rig, space):
    """It does not end the process."""
    job = rig.job(space, "odd", 1, 1)
    job["metadata"]["labels"] = {"odd": "yes"}
    rig.cluster.create("trainingjobs", job)
    rig.until_ended(space, "odd")


def a_leader_asked_to_go(rig, space):
    """It gives the Lease back: the other leads at once."""
    rig.start_operator(f"{rig.name}-standby", **rig.how)
    rig.until_led()
    rig.until_ready()
    first = rig.leader()
    others = [one for one in rig.operators if one is not first]
    first.kept = False
    first.signal(signal.SIGTERM)
    seconds = rig.until_led(others, 40)
    rig.figures["takeover after SIGTERM"] = f"{seconds:.1f} s"
    if seconds > HANDOVER_SECONDS * rig.patience:
        rig.say("I7", f"led again only {seconds:.1f} s after SIGTERM")
    rig.apply(space, "job", 2, 1)
    rig.until_ended(space, "job")


def a_leader_that_is_killed(rig, space):
    """The other leads within the Lease's time."""
    rig.start_operator(f"{rig.name}-standby", **rig.how)
    rig.until_led()
    rig.until_ready()
    first = rig.leader()
    rig.apply(space, "before", 2)
    rig.cluster.until_running(space, "before")
    others = [one for one in rig.operators if one is not first]
    first.kept = False
    rig.clock.stop()  # nobody leads
    first.signal(signal.SIGKILL)
    rig.apply(space, "job", 2, 1)
    seconds = rig.until_led(others, 60)
    rig.clock.go_on()
    rig.figures["takeover after SIGKILL"] = f"{seconds:.1f} s"
    if seconds > TAKEOVER_SECONDS * rig.patience:
        rig.say("I7", f"led again only {seconds:.1f} s after SIGKILL")
    rig.until_ended(space, "job")


def edited_to_bad_and_back(rig, space):
    """A suspended job is edited wrong and put right: it keeps what it was, and runs."""
    rig.apply(space, "job", 2)
    rig.cluster.until_running(space, "job")
    rig.cluster.patch("trainingjobs", space, "job", {"spec": {"suspend": True}})
    rig.cluster.until_condition(space, "job", "Suspended")
    set_gpus(rig, space, 4)
    rig.cluster.until_condition(space, "job", "Accepted", "False")
    set_gpus(rig, space, 8)
    rig.cluster.patch("trainingjobs", space, "job", {"spec": {"suspend": False}})
    rig.cluster.until_running(space, "job", attempt=2)


def set_gpus(rig, space, gpus, name="job"):
    job = rig.cluster.get("trainingjobs", space, name)
    template = job["spec"]["workers"]["template"]
    template["spec"]["containers"][0]["resources"]["limits"][GPUS] = gpus
    rig.cluster.call("PATCH", rig.cluster.path("trainingjobs", space, name),
                     {"spec": {"workers": {"template": template}}}, MERGE)


def with_log(rig, space, log):
    """The operator goes on as another process, whose log goes there; jobs come and go."""
    rig.remove(rig.operators[0])
    how = {**rig.how, "flags": (*rig.how["flags"], "--log-level", "debug")}
    rig.start_operator(rig.name, log=log, **how)
    for number in range(4):
        rig.apply(space, f"job-{number}", 4, 0)
    for number in range(4):
        rig.until_ended(space, f"job-{number}")


def a_full_disk_under_the_log(rig, space):
    """No line can be written, and jobs go on."""
    with open("/dev/full", "wb") as log:
        with_log(rig, space, log)


def a_log_that_nobody_reads(rig, space):
    """A pipe that is full holds no job up."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    with os.fdopen(reader, "rb"), os.fdopen(writer, "wb") as log:
        with_log(rig, space, log)


def a_stale_list(rig, space):
    """An operator that begins with a copy of the cluster from before: what it decides on that is
    refused or harmless, and it catches up."""
    rig.apply(space, "stays", 2)
    rig.cluster.until_running(space, "stays")
    rig.proxy.pinned = rig.cluster.job(space, "stays")["metadata"]["resourceVersion"]
    rig.apply(space, "later", 2, 1)
    rig.until_ended(space, "later")
    rig.cluster.delete("pods", space, "stays-1-0")
    rig.cluster.until_running(space, "stays", attempt=2)
    rig.plan.set(Rule("stale", "stale", verbs=("list", "watch"), resources=STALE, where=lambda ask: (
        ask.verb == "list" or "sendInitialEvents" in ask.query)))
    rig.remove(rig.operators[0])
    rig.proxy.hold(*STALE)
    rig.start_operator(rig.name, **rig.how)
    rig.until_ready()
    rig.apply(space, "new", 2, 1)
    rig.plan.set()
    rig.proxy.hold()
    rig.until_ended(space, "new")
    rig.judge_truth()
