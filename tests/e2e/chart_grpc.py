#!/usr/bin/env python3
"""The chart's gRPC service: certificates from a Secret, and the caller's rights."""

import json
import tempfile
import unittest

import grpc
from chart_lib import SPACE, Deployed, kubectl
from operator_lib import free_port, poll
from rpc import CALL_SECONDS, Authority, refusal
from weft.v1 import placement_service_pb2 as pb
from weft.v1 import placement_service_pb2_grpc as rpc


class Grpc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.work.cleanup)
        cls.authority = Authority(cls.work.name)
        cls.authority.sign("server", "weft-operator-grpc")
        cls.authority.sign("client", "slurm-bridge")
        files = {"tls.crt": "server.pem", "tls.key": "server.key", "ca.crt": "ca.pem"}
        kubectl("create", "secret", "generic", "weft-grpc", "-n", SPACE,
                *(f"--from-file={key}={cls.authority.path(name)}" for key, name in files.items()))
        cls.addClassCleanup(kubectl, "delete", "secret", "weft-grpc", "-n", SPACE)
        cls.port = free_port()
        cls.operator = Deployed(cls.work.name, "grpc", "grpc.enabled=true", f"grpc.port={cls.port}",
                                "grpc.secretName=weft-grpc", "grpc.requireToken=true")
        cls.addClassCleanup(cls.operator.stop)

    def test_a_caller_with_certificate_and_right_is_answered(self):
        service = json.loads(kubectl("get", "service", "weft-operator-grpc", "-n", SPACE,
                                     "-o", "json"))
        self.assertEqual(service["spec"]["clusterIP"], "None")
        self.assertEqual(service["spec"]["ports"][0]["port"], self.port)
        for name in ("bridge", "stranger"):
            kubectl("create", "serviceaccount", name, "-n", SPACE)
            self.addCleanup(kubectl, "delete", "serviceaccount", name, "-n", SPACE)
        kubectl("create", "clusterrolebinding", "bridge", "--clusterrole=weft-fleet-viewer",
                f"--serviceaccount={SPACE}:bridge")
        self.addCleanup(kubectl, "delete", "clusterrolebinding", "bridge")
        credentials = grpc.ssl_channel_credentials(*(
            self.authority.bytes(name) for name in ("ca.pem", "client.key", "client.pem")))
        with grpc.secure_channel(f"127.0.0.1:{self.port}", credentials) as channel:
            stub = rpc.PlacementServiceStub(channel)

            def call(account):
                token = kubectl("create", "token", account, "-n", SPACE).strip()
                return refusal(lambda: stub.GetFabric(
                    pb.GetFabricRequest(), timeout=CALL_SECONDS,
                    metadata=[("authorization", f"Bearer {token}")]))
            poll(lambda: call("bridge") == grpc.StatusCode.OK, "the bridge is answered")
            self.assertEqual(call("stranger"), grpc.StatusCode.PERMISSION_DENIED)
        self.assertEqual(self.operator.forbidden(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
