#!/usr/bin/env python3
"""A running job's step, measured by a gauge in a real Prometheus; and what the user is told where
it is not."""

import datetime
import os
import socket
import tempfile
import unittest

from metrics_prometheus import Page, Prometheus
from operator_lib import Cluster, Operator, poll, training_job

SPACE = "metrics-step"
LEARNED_SPACE, LEARNED = "weft-system", "weft-learned-steps"
MODEL = {"type": "Transformer", "transformer": {
    "parameters": 7000000000, "layers": 32, "hiddenSize": 4096, "attentionHeads": 32,
    "vocabularySize": 32000, "sequenceLength": 4096, "microBatchSize": 1, "globalBatchSize": 128}}


class StepMetric(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # pylint: disable-next=consider-using-with
        work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(work.cleanup)
        cls.work = work.name
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.make_namespace(SPACE)
        cls.seconds = {}  # of a step, by pod
        exporter = Page(cls.gauges)
        cls.addClassCleanup(exporter.close)
        cls.prometheus = Prometheus(cls.work, {"trainer": (exporter.port, {}, True)})
        cls.addClassCleanup(cls.prometheus.close)

    @classmethod
    def gauges(cls):
        """As scraped with the labels that a PodMonitor sets."""
        return "# TYPE train_step_seconds gauge\n" + "".join(
            f'train_step_seconds{{namespace="{space}",pod="{pod}"}} {seconds}\n'
            for (space, pod), seconds in cls.seconds.items())

    def operator(self, name, *flags):
        operator = Operator(self.work, name, *flags)
        self.addCleanup(operator.stop)
        return operator

    def run_job(self, name, metric):
        """Until its pods run; returns the seconds that are predicted."""
        job = training_job(SPACE, name, 1, model=MODEL, parallelism={"tensor": 8})
        job["metadata"]["annotations"] = {"weft.dev/step-metric": metric}
        self.cluster.create("trainingjobs", job)
        self.addCleanup(self.end_job, name)
        self.cluster.until_running(SPACE, name)
        placement = self.cluster.get("placements", SPACE, f"{name}-1")
        return placement["status"]["outlook"]["stepMilliseconds"] / 1000

    def end_job(self, name):
        self.cluster.delete("trainingjobs", SPACE, name)
        self.cluster.until_no_job(SPACE, name)

    def grow_old(self, name):
        """As if all workers had run for a quarter of an hour."""
        job = self.cluster.get("trainingjobs", SPACE, name)
        conditions = job["status"]["conditions"]
        since = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=15)
        for one in conditions:
            if one["type"] == "PodsReady":
                one["lastTransitionTime"] = since.strftime("%Y-%m-%dT%H:%M:%SZ")
        self.cluster.call(
            "PATCH", self.cluster.path("trainingjobs", SPACE, name) + "/status",
            {"metadata": {"resourceVersion": job["metadata"]["resourceVersion"]},
             "status": {"conditions": conditions}}, "application/merge-patch+json")

    def until_told(self, name, reason, note):
        def told():
            for event in self.cluster.list("events", SPACE):
                if event["reason"] == reason and event["involvedObject"]["name"] == name:
                    self.assertEqual((event["type"], event["message"]), ("Warning", note))
                    return True
            return False
        poll(told, f"{name}: {reason}")

    def measured(self, name):
        return self.cluster.job(SPACE, name)["status"].get("measuredStepSeconds")

    def test_a_gauge_is_the_measured_step(self):
        self.operator("reader", "--prometheus", f"http://127.0.0.1:{self.prometheus.port}/")
        self.addCleanup(self.cluster.delete, "configmaps", LEARNED_SPACE, LEARNED)
        predicted = self.run_job("gauge", "train_step_seconds")
        self.seconds.update({
            (SPACE, "gauge-1-0"): 1.2 * predicted,
            # Another attempt, job and namespace.
            (SPACE, "gauge-2-0"): 3 * predicted, (SPACE, "gauge-1-0-1"): 3 * predicted,
            (SPACE, "other-gauge-1-0"): 3 * predicted, ("default", "gauge-1-0"): 3 * predicted})
        # The operator asks in whole seconds.
        poll(lambda: self.prometheus.value("count(train_step_seconds offset 2s)") == 5,
             "the gauges are scraped")
        self.grow_old("gauge")
        self.cluster.until("the measured step", lambda: self.measured("gauge"))
        self.assertEqual(self.measured("gauge"), float(f"{1.2 * predicted:.4g}"))
        learned = poll(lambda: self.cluster.get("configmaps", LEARNED_SPACE, LEARNED), "it is learned")
        [text] = learned["data"].values()
        self.assertRegex(text, r"^percent: 1(19\.9|20\.0)\d\nobservations: 1\n")
        self.until_warned()

    def until_warned(self):
        self.run_job("wrong", "max(train_step_seconds)")
        self.until_told("wrong", "StepMetricInvalid", (
            'metadata.annotations[weft.dev/step-metric]: "max(train_step_seconds)" must be the name '
            "of a metric, without labels or functions: at most 256 characters of [a-zA-Z0-9_:], not "
            "beginning with a digit; the step is not measured"))
        self.run_job("missing", "no_such_seconds")
        self.grow_old("missing")
        self.until_told("missing", "StepMetricMissing", (
            f'Prometheus has no series no_such_seconds{{namespace="{SPACE}",pod=~"missing-1-[0-9]+"}} '
            "of the last 5 minutes; does it scrape the workers' pods, with the labels namespace and "
            "pod?"))
        self.assertEqual((self.measured("wrong"), self.measured("missing")), (None, None))

    def test_without_prometheus_the_event_names_the_flag(self):
        self.operator("blind")
        self.run_job("off", "train_step_seconds")
        self.until_told("off", "StepMetricUnused", (
            "the metric train_step_seconds is not read, because weft-operator has no --prometheus "
            "(prometheus.url of the Helm chart)"))

    def test_a_prometheus_that_does_not_answer_is_logged_once(self):
        silent = socket.create_server(("127.0.0.1", 0))  # takes connections, and answers nothing
        self.addCleanup(silent.close)
        operator = self.operator("waiting", "--prometheus",
                                 f"http://127.0.0.1:{silent.getsockname()[1]}")
        for name in ("one", "two"):
            self.run_job(name, "train_step_seconds")
            self.grow_old(name)

        def logged():
            return operator.said().count("Prometheus does not answer")
        poll(logged, "the operator logs it")
        self.assertEqual(logged(), 1)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    unittest.main(verbosity=2)
