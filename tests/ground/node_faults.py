#!/usr/bin/env python3
"""Parts of real nodes that fail under a gang: kubelet, containerd, device plug-in, GPUs, memory,
DNS, the clock, all of a node."""

import datetime
import os
import re
import time

import clock
from ground_scenarios import (ENDS_WHEN_TOLD, GPUS_EACH, LONG_SECONDS, TOLD_SECONDS, UNTIL_CUE,
                              GroundScenarios, condition, is_restarting, main)
import faults
from operator_lib import poll

WAITS = ENDS_WHEN_TOLD + UNTIL_CUE + "exit 0"
EATS = 800 << 20  # bytes of a worker whose node has too little memory
HOUR = 3600
NODE_LOSS_SECONDS = 60  # the operator's default
UNREADY = re.compile(r"the node is not Ready since (\S+); the attempt ends at (\S+) unless")


class NodeScenarios(GroundScenarios):
    def start(self, name, workers=2, program=WAITS, gpus=GPUS_EACH, **spec):
        """A gang that runs until it is told; the node of its worker 1."""
        self.apply(self.gang(name, program, workers, gpus, **spec))
        self.cluster.until_running(self.space, name, seconds=LONG_SECONDS)
        return self.node_of(name, 1)

    def goes_on(self, name):
        """To its end, as if nothing had happened."""
        self.cue()
        job = self.until_ended(name, "Complete", attempt=1)
        self.assertEqual(job["status"].get("restarts", 0), 0)

    def all_nodes_are_of_use(self):
        """All GPUs of all nodes, after what happened to one."""
        self.apply(self.gang("next", "exit 0", len(self.nodes), GPUS_EACH))
        self.until_ended("next", "Complete", attempt=1)

    def node_becomes(self, node, what, holds, seconds=LONG_SECONDS):
        return self.cluster.until(f"{node} {what}", lambda: holds(
            self.cluster.history.now("nodes", "", node.name)), seconds)

    def count(self, node, what, count):
        self.node_becomes(node, f"has {count} GPUs", lambda now: faults.has_gpus(now, count))
        print(f"  {what}: {node} has {count} of {GPUS_EACH} GPUs", flush=True)

    def judge_unready(self, fault, node, name, begun):
        """While the node is not Ready, and before it is lost, the job says both. Returns what."""
        def words(job):
            told = condition(job, "PodsReady") or {}
            named = f" on {node}: " in told.get("message", "")
            return UNREADY.search(told["message"]) if named else None
        self.judge_telling(f"{fault}, not Ready", name, self.becomes_unready(node), words, begun,
                           after=begun)
        changes = self.cluster.history.changes(self.space)
        told = [words(change.thing) for change in changes if change.plural == "trainingjobs"
                and change.thing["metadata"]["name"] == name]
        told = {match.groups() for match in told if match}
        self.assertEqual(len(told), 1, "the text changes")
        return told.pop()

    @staticmethod
    def becomes_unready(node):
        return "nodes", lambda now: now["metadata"]["name"] == node.name and not faults.is_true(
            now, "Ready")


class NodeFaults(NodeScenarios):

    # -- parts that are started again

    def test_a_kubelet_that_is_killed(self):
        node = self.start("job")
        node.renewed("kubelet", node.kill("kubelet"))
        self.count(node, "the kubelet is back", GPUS_EACH)
        self.goes_on("job")

    def test_containerd_that_is_killed(self):
        node = self.start("job")
        node.renewed("containerd", node.kill("containerd"))
        poll(node.runtime_answers, "containerd answers")
        self.goes_on("job")
        self.all_nodes_are_of_use()

    def test_a_device_plugin_that_is_started_again(self):
        node = self.start("job")
        with node.stopped("device-plugin"):
            self.count(node, "without a device plug-in", 0)
        self.count(node, "with it again", GPUS_EACH)
        self.goes_on("job")
        self.all_nodes_are_of_use()

    # -- nodes that are lost

    def lost(self, fault, node, name, begun):
        """Its gang starts anew on the others; the job says so soon after the node is not Ready."""
        self.lost_nodes.append(node.name)
        self.cluster.until_running(self.space, name, attempt=2, seconds=LONG_SECONDS)
        job = self.cluster.job(self.space, name)
        self.assertEqual((condition(job, "Restarting")["reason"], job["status"].get("restarts", 0)),
                         ("NodeLost", 0))
        self.assertNotIn(node.name, self.placed_nodes(name, 2))
        self.judge_unready(fault, node, name, begun)
        self.judge_telling(fault, name, self.becomes_unready(node), is_restarting, begun,
                           after=begun)

    def test_a_kubelet_that_stays_away(self):
        """Its containers run on meanwhile. They are ended as soon as it is back."""
        node, begun = self.start("job"), time.time()
        with node.stopped("kubelet"):
            self.lost("a kubelet that stays away", node, "job", begun)
            self.assertTrue(node.processes("bash"))
        self.node_becomes(node, "is Ready", lambda now: faults.is_true(now, "Ready"))
        self.cluster.until("attempt 1 is gone", lambda: not self.cluster.pods(
            self.space, "job", 1), LONG_SECONDS)
        self.cue()
        self.until_ended("job", "Complete", attempt=2)

    def test_a_node_that_is_lost_and_back(self):
        node, begun = self.start("job"), time.time()
        node.lose()
        self.lost("all processes of a node killed", node, "job", begun)
        node.bring_back()
        self.count(node, "the node is back", GPUS_EACH)
        self.cue()
        self.until_ended("job", "Complete", attempt=2)
        self.all_nodes_are_of_use()

    def test_a_node_that_is_drained(self):
        node, begun = self.start("job", workers=3), time.time()
        self.addCleanup(faults.uncordon, node)  # before clean(), which wants all nodes
        faults.drain(node)
        self.cluster.until_running(self.space, "job", attempt=2, seconds=LONG_SECONDS)
        job = self.cluster.job(self.space, "job")
        self.assertEqual((condition(job, "Restarting")["reason"], job["status"].get("restarts", 0)),
                         ("Disrupted", 0))
        self.assertNotIn(node.name, self.placed_nodes("job", 2))
        self.judge_telling("kubectl drain", "job", ("pods", self.pod_is(
            "job", lambda pod: "deletionTimestamp" in pod["metadata"])), is_restarting, begun)
        self.cue()
        self.until_ended("job", "Complete", attempt=2)

    # -- GPUs

    def test_a_gpu_that_is_unhealthy_under_a_gang(self):
        """The gang goes on. Whatever takes its place does not count on the GPU."""
        node = self.start("job")
        node.make_unhealthy(1)
        self.count(node, "a GPU is unhealthy under a gang", GPUS_EACH - 1)
        victim = self.cluster.pods(self.space, "job", 1)[0]["metadata"]["name"]
        begun = time.time()
        self.cluster.delete("pods", self.space, victim)
        self.cluster.until_running(self.space, "job", attempt=2)
        self.assertNotIn(node.name, self.placed_nodes("job", 2))
        self.assertEqual(condition(self.cluster.job(self.space, "job"), "Restarting")["reason"],
                         "PodDeleted")
        self.judge_telling("a pod beside an unhealthy GPU is deleted", "job", (
            "pods", self.pod_is("job", lambda pod: "deletionTimestamp" in pod["metadata"])),
            is_restarting, begun)
        self.cue()
        self.until_ended("job", "Complete", attempt=2)

    def test_a_gpu_that_is_unhealthy_before_a_gang(self):
        node = self.nodes[2]
        node.make_unhealthy(0)
        self.count(node, "a GPU is unhealthy", GPUS_EACH - 1)
        begun = time.time()
        self.apply(self.gang("job", "exit 0", len(self.nodes), GPUS_EACH))
        job = self.cluster.until_condition(self.space, "job", "Placed", "False")
        told = condition(job, "Placed")
        print(f"  {told['reason']}: {told['message']}", flush=True)
        self.assertEqual(told["reason"], "InsufficientCapacity")
        self.assertNotIn("never", told["message"])
        self.judge_telling("a GPU that is unhealthy before a gang", "job",
                           ("trainingjobs", self.job_is("job", lambda one: True)),
                           lambda one: (condition(one, "Placed") or {}).get(
                               "reason") == "InsufficientCapacity",
                           begun, begin="the job was made")
        node.make_unhealthy()
        self.until_ended("job", "Complete", attempt=1)

    # -- what a node runs short of

    def test_eviction_for_memory(self):
        eats = ('[ "$WEFT_ATTEMPT$WEFT_WORKER_INDEX" != 11 ] || { '
                "until [ -e /cue/eat ]; do sleep 0.2; done; exec python3 -c "
                f"'import os, time; all = os.urandom({EATS}); time.sleep(600)'; }}; ")
        node = self.start("job", program=eats + WAITS)
        free = self.memory_left(node)
        limit = (free - EATS // 2) >> 20
        with node.configured(f"evictionHard: {{memory.available: {limit}Mi}}\n"
                             "evictionPressureTransitionPeriod: 5s"):
            self.count(node, "with another limit", GPUS_EACH)
            begun = time.time()
            self.cue("eat")
            self.cluster.until_running(self.space, "job", attempt=2, seconds=LONG_SECONDS)
            self.judge_telling("eviction for memory", "job", ("pods", self.pod_is(
                "job", lambda pod: pod["status"].get("reason") == "Evicted" or faults.is_true(
                    pod, "DisruptionTarget"))), is_restarting, begun)
            job = self.cluster.job(self.space, "job")
            why = condition(job, "Restarting")
            print(f"  {why['reason']}: {why['message']}", flush=True)
            self.assertEqual((why["reason"], job["status"].get("restarts", 0)), ("Evicted", 0))
            self.cue()
            self.until_ended("job", "Complete", attempt=2)

    def memory_left(self, node):
        """As its kubelet sees it."""
        def summary():
            told = self.cluster.server.request(
                "GET", f"/api/v1/nodes/{node.name}/proxy/stats/summary")[1]
            return told.get("node", {}).get("memory", {}).get("availableBytes")
        return poll(summary, f"{node} tells its memory")

    # -- what nodes believe

    def test_a_clock_that_is_off(self):
        """An hour early, of all that the node's own programs read: the kubelet, containerd. Then
        back, as when it is set right under a running gang."""
        if not clock.can_be_put_off():
            self.skipTest("clocks are put off on x86-64 only")
        node = self.nodes[0]
        for program in ("containerd", "kubelet"):
            clock.put_off(node.process(program), HOUR)
        self.start("early", workers=len(self.nodes))
        self.judge_clock("early", node, HOUR)
        self.goes_on("early")
        for program in ("containerd", "kubelet"):
            clock.put_off(node.process(program), -HOUR // 2)
        os.remove(os.path.join(self.cue_folder, "go"))
        self.start("late", workers=len(self.nodes))
        self.judge_clock("late", node, -HOUR // 2)
        self.goes_on("late")
        for program in ("kubelet", "containerd"):
            node.renewed(program, node.kill(program))

    def judge_clock(self, name, node, seconds):
        """Its kubelet and its containerd started their part of the gang that much early."""
        times = {}
        for pod in self.cluster.pods(self.space, name, 1):
            [container] = pod["status"]["containerStatuses"]
            times[pod["spec"]["nodeName"]] = [
                datetime.datetime.fromisoformat(one).timestamp() for one in (
                    pod["status"]["startTime"], container["state"]["running"]["startedAt"])]
        own, other = times.pop(node.name), times.popitem()[1]
        off = [a - b for a, b in zip(own, other)]
        print(f"  {name}: kubelet and containerd of {node} are {off} s early", flush=True)
        for one in off:
            self.assertAlmostEqual(one, seconds, delta=LONG_SECONDS)

    def test_dns_that_is_down_for_a_while(self):
        """Workers that look each other up wait for it, and run in the same attempt."""
        looks_up = ("export RES_OPTIONS='timeout:1 attempts:1'; "
                    "until python3 -c 'import os, socket; "
                    "print(socket.gethostbyname(os.environ[\"WEFT_MASTER_ADDR\"]))' "
                    ">/cue/$WEFT_WORKER_INDEX; do touch /cue/asked; sleep 0.2; done; ")
        with faults.silent_dns():
            self.start("job", program=ENDS_WHEN_TOLD + looks_up + UNTIL_CUE + "exit 0")
            poll(lambda: os.path.exists(os.path.join(self.cue_folder, "asked")),
                 "a worker has asked in vain")
        self.goes_on("job")
        for worker in "01":
            with open(os.path.join(self.cue_folder, worker), encoding="ascii") as found:
                self.assertRegex(found.read(), r"^10\.244\.")


class NodesByDefault(NodeScenarios):
    """With the operator's own times."""

    flags = ("--bind-deadline", "30", "--leader-elect=false")

    def test_a_node_that_is_not_ready_for_a_while(self):
        """The job says so, and when its attempt would end, long before. The gang goes on."""
        node, begun = self.start("job"), time.time()
        _, unready = self.becomes_unready(node)
        with node.stopped("kubelet"):
            self.node_becomes(node, "is not Ready", unready)
            self.cluster.until("the job says so", lambda: UNREADY.search(condition(
                self.cluster.job(self.space, "job"), "PodsReady")["message"]), 2 * TOLD_SECONDS)
        since, end = self.judge_unready("a kubelet that is away for a while", node, "job", begun)
        left = (datetime.datetime.fromisoformat(end) - datetime.datetime.fromisoformat(since))
        print(f"  not Ready since {since}, to be lost at {end}", flush=True)
        self.assertAlmostEqual(left.total_seconds(), NODE_LOSS_SECONDS, delta=TOLD_SECONDS)
        self.cluster.until("every worker is ready again", lambda: condition(self.cluster.job(
            self.space, "job"), "PodsReady")["status"] == "True", LONG_SECONDS)
        self.goes_on("job")


if __name__ == "__main__":
    main()
