#!/usr/bin/env python3
"""Parts of real nodes that fail under a gang: kubelet, containerd, device plug-in, GPUs, memory,
DNS, the clock, all of a node."""

import os
import signal
import subprocess
import time

import clock
from ground_scenarios import (ENDS_WHEN_TOLD, GPUS, GPUS_EACH, LONG_SECONDS, UNTIL_CUE,
                              GroundScenarios, condition, is_restarting, main)
from operator_lib import poll
import real_node

WAITS = ENDS_WHEN_TOLD + UNTIL_CUE + "exit 0"
EATS = 800 << 20  # bytes of a worker whose node has too little memory
HOUR = 3600


class NodeFaults(GroundScenarios):
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
        self.node_becomes(node, f"has {count} GPUs", lambda now: now["status"]["allocatable"].get(
            GPUS) == str(count))
        print(f"  {what}: {node} has {count} of {GPUS_EACH} GPUs", flush=True)

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
        self.judge_telling(fault, name, ("nodes", lambda now: (
            now["metadata"]["name"] == node.name and not self.node_is(now, "Ready"))),
            is_restarting, begun, after=begun)

    def test_a_kubelet_that_stays_away(self):
        """Its containers run on meanwhile. They are ended as soon as it is back."""
        node, begun = self.start("job"), time.time()
        with node.stopped("kubelet"):
            self.lost("a kubelet that stays away", node, "job", begun)
            self.assertTrue(node.processes("bash"))
        self.node_becomes(node, "is Ready", lambda now: self.node_is(now, "Ready"))
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
        self.addCleanup(subprocess.run, ["kubectl", "uncordon", node.name], check=True)
        subprocess.run(["kubectl", "drain", node.name, "--force", "--ignore-daemonsets",
                        "--delete-emptydir-data", "--timeout=120s"], check=True)
        self.cluster.until_running(self.space, "job", attempt=2, seconds=LONG_SECONDS)
        job = self.cluster.job(self.space, "job")
        self.assertEqual((condition(job, "Restarting")["reason"], job["status"].get("restarts", 0)),
                         ("Disrupted", 0))
        self.assertNotIn(node.name, self.placed_nodes("job", 2))
        self.judge_telling("kubectl drain", "job", ("pods", self.pod_is(
            "job", lambda pod: "deletionTimestamp" in pod["metadata"])), is_restarting, begun)
        self.cue()
        self.until_ended("job", "Complete", attempt=2)
        subprocess.run(["kubectl", "uncordon", node.name], check=True)

    # -- GPUs

    def test_a_gpu_that_is_unhealthy_under_a_gang(self):
        """The gang goes on. Whatever takes its place does not count on the GPU."""
        node = self.start("job")
        node.make_unhealthy(1)
        self.count(node, "a GPU is unhealthy under a gang", GPUS_EACH - 1)
        victim = self.cluster.pods(self.space, "job", 1)[0]["metadata"]["name"]
        self.cluster.delete("pods", self.space, victim)
        self.cluster.until_running(self.space, "job", attempt=2)
        self.assertNotIn(node.name, self.placed_nodes("job", 2))
        self.cue()
        self.until_ended("job", "Complete", attempt=2)

    def test_a_gpu_that_is_unhealthy_before_a_gang(self):
        node, begun = self.nodes[2], time.time()
        node.make_unhealthy(0)
        self.count(node, "a GPU is unhealthy", GPUS_EACH - 1)
        self.apply(self.gang("job", "exit 0", len(self.nodes), GPUS_EACH))
        job = self.cluster.until_condition(self.space, "job", "Placed", "False")
        told = condition(job, "Placed")
        print(f"  {told['reason']}: {told['message']}", flush=True)
        self.assertNotIn("never", told["message"])
        self.judge_telling("a GPU that is unhealthy before a gang", "job",
                           ("trainingjobs", self.job_is("job", lambda one: True)),
                           lambda one: (condition(one, "Placed") or {}).get("status") == "False",
                           begun)
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
            with open(os.path.join(self.cue_folder, "eat"), "w", encoding="ascii"):
                pass
            self.cluster.until_running(self.space, "job", attempt=2, seconds=LONG_SECONDS)
            self.judge_telling("eviction for memory", "job", ("pods", self.pod_is(
                "job", lambda pod: pod["status"].get("reason") == "Evicted" or self.node_is(
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
        node, others = self.nodes[0], self.nodes[1:]
        for program in ("containerd", "kubelet"):
            clock.put_off(node.process(program), HOUR)
        self.start("early", workers=len(self.nodes))
        written = {one.name: self.heartbeat(one) for one in (node, others[0])}
        print(f"  heartbeats: {written}", flush=True)
        self.goes_on("early")
        for program in ("containerd", "kubelet"):
            clock.put_off(node.process(program), -HOUR // 2)
        os.remove(os.path.join(self.cue_folder, "go"))
        self.start("late", workers=len(self.nodes))
        self.goes_on("late")
        for program in ("kubelet", "containerd"):
            node.renewed(program, node.kill(program))

    def heartbeat(self, node):
        now = self.cluster.get("nodes", "", node.name)
        return condition(now, "Ready")["lastHeartbeatTime"]

    def test_dns_that_is_down_for_a_while(self):
        """Workers that look each other up wait for it, and run in the same attempt."""
        looks_up = ("export RES_OPTIONS='timeout:1 attempts:1'; "
                    "until python3 -c 'import os, socket; "
                    "print(socket.gethostbyname(os.environ[\"WEFT_MASTER_ADDR\"]))' "
                    ">/cue/$WEFT_WORKER_INDEX; do touch /cue/asked; sleep 0.2; done; ")
        dns = real_node.process_of("coredns")
        os.kill(dns, signal.SIGSTOP)
        try:
            self.start("job", program=ENDS_WHEN_TOLD + looks_up + UNTIL_CUE + "exit 0")
            poll(lambda: os.path.exists(os.path.join(self.cue_folder, "asked")),
                 "a worker has asked in vain")
        finally:
            os.kill(dns, signal.SIGCONT)
        self.goes_on("job")
        for worker in "01":
            with open(os.path.join(self.cue_folder, worker), encoding="ascii") as found:
                self.assertRegex(found.read(), r"^10\.244\.")


if __name__ == "__main__":
    main()
