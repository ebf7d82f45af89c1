#!/usr/bin/env python3
"""Secrets that stand in jobs, pods, requests and credentials are nowhere in what Weft says."""

import json
import os
import ssl
import stat
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

import grpc
from operator_lib import Cluster, Operator, condition, free_port, training_job
from rpc import CALL_SECONDS, address_of, refusal, until_leads
from weft.v1 import placement_service_pb2 as pb
from weft.v1 import placement_service_pb2_grpc as rpc

SPACE = "canary"
CANARY = "canary-7f3a"  # what is planted begins with it


def kubectl(*arguments, text=None):
    return subprocess.run(["kubectl", *arguments], check=True, capture_output=True, text=True,
                          input=text).stdout


def plant(name, replicas=2, **spec):
    """A job with a canary wherever its author may put a secret."""
    job = training_job(SPACE, name, replicas, annotations={
        "example.com/note": f"{CANARY}-pod-annotation"}, **spec)
    job["metadata"]["annotations"] = {"example.com/note": f"{CANARY}-annotation"}
    pod = job["spec"]["workers"]["template"]["spec"]
    container = pod["containers"][0]
    container["env"] = [{"name": "TOKEN", "value": f"{CANARY}-env"}]
    container["envFrom"] = [{"secretRef": {"name": "credentials"}}]
    container["args"] = ["--password", f"{CANARY}-argument"]
    container["lifecycle"] = {"preStop": {"exec": {"command": ["curl", f"{CANARY}-hook"]}}}
    pod["initContainers"] = [{"name": "fetch", "image": "registry.example/fetch:1",
                              "env": [{"name": "KEY", "value": f"{CANARY}-init"}]}]
    pod["volumes"] = [{"name": "s", "secret": {"secretName": "credentials"}}]
    return job


class Canaries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.work.cleanup)
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.make_namespace(SPACE)
        cls.addClassCleanup(cls.cluster.delete, "namespaces", "", SPACE)
        cls.cluster.create("secrets", {"metadata": {"name": "credentials", "namespace": SPACE},
                                       "stringData": {"password": f"{CANARY}-secret"}})
        kubectl("create", "serviceaccount", "runs", "-n", SPACE)
        kubectl("create", "clusterrolebinding", "canary-runs", "--clusterrole=cluster-admin",
                f"--serviceaccount={SPACE}:runs")
        cls.addClassCleanup(kubectl, "delete", "clusterrolebinding", "canary-runs")
        cls.token = kubectl("create", "token", "runs", "-n", SPACE).strip()
        cls.port = free_port()
        cls.operator = Operator(
            cls.work.name, "canary", "--kubeconfig", cls.kubeconfig(), "--log-level", "debug",
            "--grpc-address", "127.0.0.1:0", "--metrics-security", "tls",
            "--metrics-address", f"127.0.0.1:{cls.port}", "--bind-deadline", "5")
        cls.addClassCleanup(cls.operator.stop)
        cls.addClassCleanup(cls.remove_jobs)
        cls.channel = grpc.insecure_channel(address_of(cls.operator))
        cls.addClassCleanup(cls.channel.close)
        cls.stub = rpc.PlacementServiceStub(cls.channel)
        until_leads(cls.stub)

    @classmethod
    def kubeconfig(cls):
        """Its credential comes from a program that is told a secret and hands out a token."""
        config = json.loads(kubectl("config", "view", "--raw", "--minify", "-o", "json"))
        plugin = os.path.join(cls.work.name, "plugin")
        with open(plugin, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nprintf \'{"apiVersion": "client.authentication.k8s.io/v1", '
                       '"kind": "ExecCredential", "status": {"token": "%s"}}\' "$(cat "$1")"\n')
        os.chmod(plugin, stat.S_IRWXU)
        token = os.path.join(cls.work.name, "token")
        with open(token, "w", encoding="utf-8") as file:
            file.write(cls.token)
        config["users"][0]["user"] = {"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": plugin, "args": [token],
            "env": [{"name": "PLUGIN_SECRET", "value": f"{CANARY}-plugin"}],
            "interactiveMode": "Never"}}
        path = os.path.join(cls.work.name, "kubeconfig")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        return path

    @classmethod
    def remove_jobs(cls):
        """While there is an operator to take their finalizers away."""
        cls.cluster.delete("trainingjobs", SPACE)
        cls.cluster.until("the jobs are gone", lambda: not cls.cluster.history.all_now(
            "trainingjobs", SPACE))

    def get(self, path, token):
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}",
                                         headers={"Authorization": f"Bearer {token}"})
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        try:
            with urllib.request.urlopen(request, timeout=30, context=trusting) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.read().decode()

    def weft(self, *arguments):
        """What it prints on both streams."""
        done = subprocess.run([os.environ["WEFT"], *arguments], capture_output=True, text=True,
                              check=False)
        self.assertIn(done.returncode, (0, 3), f"{arguments}: {done.stderr}")
        return done.stdout + done.stderr

    def listed(self, what):
        return json.loads(kubectl("get", what, "-n", SPACE, "-o", "json"))["items"]

    def told(self):
        """Everything that Weft says about the jobs: where, and the words."""
        yield "log", self.operator.said()
        for kind in ("trainingjobs", "placements"):
            for one in self.listed(kind):
                yield f"status of {kind}", json.dumps(one.get("status"))
        for kind in ("events", "configmaps", "services", "placements"):
            yield kind, json.dumps(self.listed(kind))
        for path in ("/metrics", "/map"):
            page = self.get(path, self.token)
            self.assertIn("weft", page)
            yield path, page
        yield "/metrics to nobody", self.get(f"/metrics?token={CANARY}-query", f"{CANARY}-bearer")
        named = {"namespace": SPACE, "name": "runs"}
        manifest = json.dumps(plant("planned"))
        for answer in (self.stub.GetFabric(pb.GetFabricRequest(nodes=True), timeout=CALL_SECONDS),
                       self.stub.Explain(pb.ExplainRequest(**named), timeout=CALL_SECONDS),
                       self.stub.Plan(pb.PlanRequest(manifests=manifest), timeout=CALL_SECONDS)):
            yield type(answer).__name__, str(answer)
        for message in self.stub.WatchPlacements(pb.WatchPlacementsRequest(), timeout=CALL_SECONDS):
            yield "WatchPlacements", str(message)
            if message.change == pb.WatchPlacementsResponse.CHANGE_SYNCED:
                break
        cluster = ("--kubeconfig", os.environ["KUBECONFIG"])
        for command in ("snapshot", "plan", "explain", "top", "audit", "lint"):
            yield f"weft {command}", self.weft(command, *cluster)

    def test_no_secret_is_told(self):
        self.cluster.create("trainingjobs", plant("runs"))
        self.cluster.until_running(SPACE, "runs")
        self.cluster.create("trainingjobs", plant("waits", replicas=40))
        self.cluster.until_condition(SPACE, "waits", "Placed", "False")
        wrong = plant("wrong", suspend=True)
        wrong["spec"]["workers"]["template"]["spec"]["containers"][0]["resources"]["limits"] = {
            "nvidia.com/gpu": 4}
        self.cluster.create("trainingjobs", wrong)
        self.cluster.until_condition(SPACE, "wrong", "Accepted", "False")
        unstartable = plant("unstartable")
        unstartable["spec"]["workers"]["template"]["spec"]["containers"][0]["image"] = " "
        self.cluster.create("trainingjobs", unstartable)
        refused = self.cluster.until_condition(SPACE, "unstartable", "Accepted", "False")
        self.assertIn("image", condition(refused, "Accepted")["message"])
        self.assertEqual(refusal(lambda: self.stub.GetFabric(
            pb.GetFabricRequest(), timeout=CALL_SECONDS,
            metadata=[("authorization", f"Bearer {CANARY}-rpc")])),
            grpc.StatusCode.UNAUTHENTICATED)
        pods = kubectl("get", "pods", "-n", SPACE, "-o", "json")
        for planted in ("env", "argument", "hook", "init", "pod-annotation"):
            self.assertIn(f"{CANARY}-{planted}", pods, "the canary is not where it was planted")
        secrets = (CANARY, self.token.rsplit(".", maxsplit=1)[-1])
        told = list(self.told())
        self.assertGreater(len(told), 20)
        about = {where for where, words in told if f"{SPACE}" in words and "runs" in words}
        self.assertLessEqual({"log", "events", "/metrics", "/map", "ExplainResponse",
                              "WatchPlacements", "weft snapshot"}, about)
        for where, words in told:
            for secret in secrets:
                at = words.find(secret)
                self.assertEqual(at, -1, f"{where}: ...{words[max(at - 200, 0):at + 60]}...")


if __name__ == "__main__":
    unittest.main(verbosity=2)
