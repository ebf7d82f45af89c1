#!/usr/bin/env python3
"""What Weft relies on in a release of Kubernetes: a part of the other scenarios, without those of
$WEFT_LEFT_OUT, on a cluster of $WEFT_RELEASE or one that emulates it."""

import os
import subprocess
import unittest

from operator_ends import Ends
from operator_foreign import GATE, Foreign, ForeignScenarios, is_gated, job
from operator_kinds import Kinds
from operator_lib import poll, training_job
from operator_refusals import Refusals
from operator_scenarios import PATIENT, main
from operator_shapes import Shapes

# The whole life of a job, ways out of it, a node that kube-scheduler refuses, pods of Jobs, and
# GPUs that claims hold.
CHOSEN = ((Shapes, "test_tensor_only"), (Shapes, "test_mpi_ends_with_worker_0"),
          (Ends, "test_failure_is_retried_once_then_final"),
          (Ends, "test_suspended_jobs_hold_nothing_and_go_on_when_resumed"),
          (Ends, "test_deleted_while_running_pods_go_first"),
          (Ends, "test_a_namespace_takes_its_jobs_with_it"),
          (Refusals, "test_a_node_taken_between_plan_and_bind"),
          (Foreign, "test_a_lost_pod_comes_back_to_its_node"), (Kinds, "test_gpus_by_claim"))


class Release(ForeignScenarios):
    flags = PATIENT

    def test_a_job_runs_on_servers_of_the_release(self):
        self.apply(training_job(self.space, "job", 4))
        self.cluster.until_running(self.space, "job")
        self.assertEqual(self.nodes_of_pods("job"), self.placed_nodes("job"))
        version = self.cluster.call("GET", "/version")
        major, minor = (version.get(f"emulation{part}") or version[part.lower()]
                        for part in ("Major", "Minor"))
        self.assertEqual(f"{major}.{minor}", os.environ["WEFT_RELEASE"])

    @unittest.skipUnless(os.environ.get("WEFT_GATE_POLICY"), "the chart has none for this release")
    def test_the_policy_of_the_chart_gates_pods(self):
        """$WEFT_GATE_POLICY is what the chart makes of it for the release."""
        policy = os.environ["WEFT_GATE_POLICY"]
        subprocess.run(["kubectl", "apply", "-f", policy], check=True, capture_output=True)
        self.addCleanup(subprocess.run, ["kubectl", "delete", "-f", policy], check=True,
                        capture_output=True)
        asking = job(self.space, "asks", 4)
        template = asking["spec"]["template"]
        template["metadata"]["labels"] = {"weft.dev/place": "true"}
        template["spec"].pop("schedulingGates")
        probe = {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
                 "metadata": {"name": "probe", "namespace": self.space,
                              "labels": template["metadata"]["labels"]}}
        poll(lambda: is_gated(self.cluster.create("pods", probe, "?dryRun=All")),
             f"the policy adds the gate {GATE}")
        self.cluster.create("jobs", asking)

        def bound():
            placed = self.cluster.history.all_now("placements", self.space)
            nodes = placed[0].get("status", {}).get("nodes") if placed else None
            return nodes and [pod["spec"].get("nodeName") for pod in self.pods("asks")] == nodes
        self.cluster.until("each pod is bound to its worker's node", bound)


def load_tests(loader, _, __):
    tests = loader.loadTestsFromTestCase(Release)
    left_out = os.environ.get("WEFT_LEFT_OUT", "").split()
    tests.addTests(scenario(name) for scenario, name in CHOSEN if name not in left_out)
    return unittest.TestSuite(tests)


if __name__ == "__main__":
    main()
