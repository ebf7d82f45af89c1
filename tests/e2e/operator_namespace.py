#!/usr/bin/env python3
"""An operator of one namespace: what holds nodes elsewhere counts, jobs elsewhere do not."""

from operator_lib import training_job
from operator_scenarios import PATIENT, Scenarios, main

OURS, OTHERS = "one-of-two-namespaces", "the-other-namespace"


class OneNamespace(Scenarios):
    flags = (*PATIENT, "--namespace", OURS)

    def test_one_of_two_namespaces(self):
        self.assertEqual(self.space, OURS)
        self.cluster.make_namespace(OTHERS)
        self.addCleanup(self.cluster.delete, "namespaces", "", OTHERS)
        names = [node["metadata"]["name"] for node in self.cluster.list("nodes")]
        taken = names[:len(names) - 2]
        for number, node in enumerate(taken):
            self.cluster.create("pods", {
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": f"pod-{number}", "namespace": OTHERS},
                "spec": {"nodeName": node, "containers": [{
                    "name": "c", "image": "registry.example/other:1",
                    "resources": {"limits": {"nvidia.com/gpu": 8}}}]}})
        self.cluster.create("trainingjobs", training_job(OTHERS, "theirs", 2))
        self.apply(training_job(self.space, "job", 2))
        self.cluster.until_running(self.space, "job")
        self.assertEqual(sorted(self.placed_nodes("job")), sorted(names[-2:]))
        self.assertNotIn("status", self.cluster.job(OTHERS, "theirs"))


if __name__ == "__main__":
    main()
