#!/usr/bin/env python3
"""Calls of weft.v1.PlacementService, as other programs make them."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase)
from operator_lib import Cluster, Operator, poll, training_job
from weft.v1 import placement_service_pb2 as pb
from weft.v1 import placement_service_pb2_grpc as rpc

SPACE = "rpc"
CALL_SECONDS = 300
RELOAD_SECONDS = 300  # the server looks at its files every ten
EXAMPLES = os.environ["WEFT_EXAMPLES"]


def gang(workers):
    return json.dumps({
        "apiVersion": "weft.dev/v1alpha1", "kind": "Placement",
        "metadata": {"name": "gang", "namespace": SPACE},
        "spec": {"workers": workers, "accelerator": {"perWorker": 8}}})


def address_of(operator):
    """As its log tells it, once it serves."""
    def said():
        return re.findall(r'gRPC.*address="?([0-9.]+:[0-9]+)', operator.said())
    return poll(said, "the operator serves gRPC")[-1]


def until_leads(stub):
    def answers():
        try:
            return stub.GetFabric(pb.GetFabricRequest(), timeout=CALL_SECONDS)
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.UNAVAILABLE, error
            return None
    return poll(answers, "the operator leads")


def refusal(call):
    try:
        call()
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def show_fabric(stub, _):
    fabric = stub.GetFabric(pb.GetFabricRequest(nodes=True), timeout=CALL_SECONDS)
    narrowest = fabric.levels[-1].domains
    assert sum(len(domain.nodes) for domain in narrowest) == 32, fabric
    assert sum(domain.free_accelerator_count for domain in narrowest) == 32 * 8, fabric


def plan_alike_everywhere(stub, address):
    """The library, the C++ example and `weft plan` name the same nodes."""
    answer = stub.Plan(pb.PlanRequest(manifests=gang(6)), timeout=CALL_SECONDS)
    nodes = list(answer.placements[0].nodes)
    assert len(set(nodes)) == 6, answer
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(gang(6))
        file.flush()
        told = subprocess.run([os.environ["WEFT_PLAN_CLIENT"], address, file.name], check=True,
                              capture_output=True, text=True).stdout
        assert told == f"{SPACE}/gang: {' '.join(nodes)}\n", told
        planned = subprocess.run(
            [os.environ["WEFT"], "plan", "--kubeconfig", os.environ["KUBECONFIG"], "-f", file.name,
             "-o", "json"], check=True, capture_output=True).stdout
    items = json.loads(planned)["items"]
    assert items[0]["status"]["nodes"] == nodes, (items, nodes)


def refuse_what_is_wrong(stub, address):
    wrong = pb.PlanRequest(manifests=gang(0))
    assert refusal(lambda: stub.Plan(wrong, timeout=CALL_SECONDS)) == \
        grpc.StatusCode.INVALID_ARGUMENT
    large = pb.PlanRequest(manifests=gang(1) + " " * (2 << 20))
    assert refusal(lambda: stub.Plan(large, timeout=CALL_SECONDS)) == \
        grpc.StatusCode.RESOURCE_EXHAUSTED
    absent = pb.ExplainRequest(namespace=SPACE, name="nobody")
    assert refusal(lambda: stub.Explain(absent, timeout=CALL_SECONDS)) == grpc.StatusCode.NOT_FOUND
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(gang(33))
        file.flush()
        told = subprocess.run([os.environ["WEFT_PLAN_CLIENT"], address, file.name], check=False,
                              capture_output=True, text=True)
        assert told.returncode == 3 and "are missing" in told.stdout, told


def run_a_gang(_, address):
    """The processes of deploy/examples/grpc/gang_run.py are told worker and nodes in order."""
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "gang.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(gang(4))
        script = f'echo "$NODE $WEFT_NODES" > {work}/$WEFT_WORKER'
        subprocess.run([sys.executable, f"{EXAMPLES}/gang_run.py", address, path,
                        "--launcher", "env NODE={node}", "--", "sh", "-c", script], check=True)
        for worker in range(4):
            with open(os.path.join(work, str(worker)), encoding="utf-8") as file:
                node, nodes = file.read().split()
            assert nodes.split(",")[worker] == node, (worker, node, nodes)


class Follower:
    """deploy/examples/grpc/watch_placements.py at work."""

    def __init__(self, address, work):
        self.path = os.path.join(work, "followed")
        with open(self.path, "w", encoding="utf-8") as out:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen(
                [sys.executable, f"{EXAMPLES}/watch_placements.py", address, "--namespace", SPACE],
                stdout=out)

    def lines(self):
        with open(self.path, encoding="utf-8") as out:
            return out.read().splitlines()

    def until(self, line, times=1):
        poll(lambda: self.lines().count(line) >= times, f"the follower is told: {line}")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def follow_decisions(cluster, operator_again, address, work):
    follower = Follower(address, work)
    try:
        follower.until("SYNCED")
        cluster.create("trainingjobs", training_job(SPACE, "followed", 3))
        cluster.until_running(SPACE, "followed")
        nodes = cluster.get("placements", SPACE, "followed-1")["status"]["nodes"]
        line = f"SET {SPACE}/followed-1 {','.join(nodes)}"
        follower.until(line)
        again = operator_again()  # its cursors are none of the former's
        follower.until("SYNCED", times=2)
        cluster.delete("trainingjobs", SPACE, "followed")
        follower.until(f"GONE {SPACE}/followed-1")
        return again
    finally:
        follower.stop()


def find_the_leader(address, work):
    """Of two operators that one name stands for."""
    standby = Operator(work, "standby", "--grpc-address", "127.0.0.1:0")
    try:
        both = f"ipv4:{address_of(standby)},{address}"
        subprocess.run([sys.executable, f"{EXAMPLES}/watch_placements.py", both, "--changes", "1"],
                       check=True, timeout=CALL_SECONDS, stdout=subprocess.DEVNULL)
    finally:
        standby.stop()


def explain_both_ways(cluster, stub):
    cluster.create("trainingjobs", training_job(SPACE, "there", 2))
    cluster.until_running(SPACE, "there")
    why = stub.Explain(pb.ExplainRequest(namespace=SPACE, name="there"), timeout=CALL_SECONDS)
    assert why.placed and "there" in why.text, why
    what_if = stub.Explain(pb.ExplainRequest(namespace=SPACE, name="gang", manifests=gang(40)),
                           timeout=CALL_SECONDS)
    assert not what_if.placed and what_if.text, what_if
    cluster.delete("trainingjobs", SPACE, "there")
    cluster.until_no_job(SPACE, "there")


def check_health_and_reflection(channel):
    health = health_pb2_grpc.HealthStub(channel)
    status = health.Check(health_pb2.HealthCheckRequest(), timeout=CALL_SECONDS).status
    assert status == health_pb2.HealthCheckResponse.SERVING
    services = ProtoReflectionDescriptorDatabase(channel).get_services()
    assert "weft.v1.PlacementService" in services, services


# --- certificates and tokens ---

class Authority:
    """Signs certificates with openssl."""

    def __init__(self, work):
        self.work = work
        self.run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key",
                 "-out", "ca.pem", "-subj", "/CN=test authority", "-days", "2")

    def run(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, cwd=self.work,
                       stderr=subprocess.DEVNULL)

    def sign(self, name, subject):
        """NAME.pem and NAME.key, each replaced in one step."""
        self.run("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "new.key", "-out", "new.csr",
                 "-subj", f"/CN={subject}" if subject else "/O=nobody", "-addext", "subjectAltName=IP:127.0.0.1")
        self.run("x509", "-req", "-in", "new.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                 "-CAcreateserial", "-copy_extensions", "copy", "-out", "new.pem", "-days", "1")
        for kind in ("key", "pem"):
            os.replace(self.path(f"new.{kind}"), self.path(f"{name}.{kind}"))

    def path(self, name):
        return os.path.join(self.work, name)

    def bytes(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()


def served_subject(address):
    shown = subprocess.run(["openssl", "s_client", "-connect", address, "-alpn", "h2"],
                           input=b"", capture_output=True, check=False).stdout.decode()
    return re.search(r"subject=.*CN = (\S+)", shown).group(1)


def token_of(account):
    return subprocess.run(["kubectl", "create", "token", "-n", SPACE, account], check=True,
                          capture_output=True, text=True).stdout.strip()


def kubectl(*arguments):
    subprocess.run(["kubectl", *arguments], check=True, stdout=subprocess.DEVNULL)


def secured(work, authority, name, *flags):
    return Operator(work, name, "--grpc-address", "127.0.0.1:0",
                    "--grpc-certificate", authority.path("server.pem"),
                    "--grpc-key", authority.path("server.key"),
                    "--grpc-client-ca", authority.path("ca.pem"), *flags)


class As:
    """Calls of a certificate's holder, with a token or without."""

    def __init__(self, address, authority, certificate):
        self.channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(
            authority.bytes("ca.pem"), authority.bytes(f"{certificate}.key"),
            authority.bytes(f"{certificate}.pem")))
        self.stub = rpc.PlacementServiceStub(self.channel)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def fabric(self, token=""):
        return self.code(self.stub.GetFabric, pb.GetFabricRequest(), token)

    def plan(self, space, token=""):
        manifests = json.loads(gang(2))
        manifests["metadata"]["namespace"] = space
        return self.code(self.stub.Plan, pb.PlanRequest(manifests=json.dumps(manifests)), token)

    def explain(self, space, token=""):
        """NOT_FOUND: they may ask, and there is no such workload."""
        return self.code(self.stub.Explain, pb.ExplainRequest(namespace=space, name="no"), token)

    def watch(self, space, token=""):
        """Until all has been told that stands."""
        def first(request, **named):
            for told in self.stub.WatchPlacements(request, **named):
                assert not told.placement.name or told.placement.namespace == space or not space
                if told.change == pb.WatchPlacementsResponse.CHANGE_SYNCED:
                    return
        return self.code(first, pb.WatchPlacementsRequest(namespace=space), token)

    @staticmethod
    def code(call, request, token):
        metadata = [("authorization", f"Bearer {token}")] if token else []
        return refusal(lambda: call(request, metadata=metadata, timeout=CALL_SECONDS))


def grant(name, *subjects):
    """To see everything, and for "tenant" to see Placements of one namespace."""
    kubectl("create", "clusterrole", name, "--verb=list",
            "--resource=placements.weft.dev,fabrics.weft.dev")
    kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", *subjects)
    kubectl("create", "rolebinding", name, "-n", SPACE, f"--clusterrole={name}",
            f"--serviceaccount={SPACE}:tenant", "--user=weft-grpc:tenant")


def check_certificates_and_tokens(work):
    authority = Authority(work)
    for name, subject in (("server", "first"), ("caller", "caller"), ("tenant", "tenant"),
                          ("unbound", "unbound"), ("nameless", "")):
        authority.sign(name, subject)
    for account in ("stranger", "viewer", "tenant"):
        kubectl("create", "serviceaccount", "-n", SPACE, account)
    grant("rpc-viewer", f"--serviceaccount={SPACE}:viewer", "--user=weft-grpc:caller")
    try:
        check_tokens(work, authority)
        check_names_of_certificates(work, authority)
    finally:
        kubectl("delete", "clusterrolebinding,clusterrole", "rpc-viewer")


def check_tokens(work, authority):
    operator = secured(work, authority, "secured", "--grpc-require-token")
    try:
        address = address_of(operator)
        with As(address, authority, "caller") as caller:
            viewer, tenant = token_of("viewer"), token_of("tenant")
            poll(lambda: caller.fabric(viewer) == grpc.StatusCode.OK, "the viewer is answered")
            assert caller.fabric() == grpc.StatusCode.UNAUTHENTICATED
            assert caller.fabric("nonsense") == grpc.StatusCode.UNAUTHENTICATED
            assert caller.fabric(token_of("stranger")) == grpc.StatusCode.PERMISSION_DENIED
            assert caller.watch("", viewer) == grpc.StatusCode.OK
            assert caller.plan("default", viewer) == grpc.StatusCode.OK
            expect_a_tenant_s_view(caller, tenant)
        bare = grpc.ssl_channel_credentials(authority.bytes("ca.pem"))
        with grpc.secure_channel(address, bare) as channel:
            stub = rpc.PlacementServiceStub(channel)
            assert refusal(lambda: stub.GetFabric(pb.GetFabricRequest(), timeout=5)) in (
                grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
        assert served_subject(address) == "first"
        authority.sign("server", "second")
        poll(lambda: served_subject(address) == "second", "the new certificate is served",
             RELOAD_SECONDS)
    finally:
        operator.stop()


def expect_a_tenant_s_view(caller, token=""):
    """Of the one namespace that they may see, and of nothing else."""
    denied = grpc.StatusCode.PERMISSION_DENIED
    assert caller.plan(SPACE, token) == grpc.StatusCode.OK
    assert caller.plan("default", token) == denied
    assert caller.explain(SPACE, token) == grpc.StatusCode.NOT_FOUND
    assert caller.explain("default", token) == denied
    assert caller.watch(SPACE, token) == grpc.StatusCode.OK
    assert caller.watch("default", token) == denied
    assert caller.watch("", token) == denied
    assert caller.fabric(token) == denied


def check_names_of_certificates(work, authority):
    """Where no token is required a certificate alone says who calls, and gives no right."""
    operator = secured(work, authority, "named")
    try:
        address = address_of(operator)
        with As(address, authority, "caller") as caller:
            poll(lambda: caller.fabric() == grpc.StatusCode.OK, "the caller is answered")
            assert caller.watch("") == grpc.StatusCode.OK
        with As(address, authority, "tenant") as tenant:
            expect_a_tenant_s_view(tenant)
        with As(address, authority, "unbound") as unbound:
            assert unbound.fabric() == grpc.StatusCode.PERMISSION_DENIED
            assert unbound.plan(SPACE) == grpc.StatusCode.PERMISSION_DENIED
        with As(address, authority, "nameless") as nameless:
            assert nameless.plan(SPACE) == grpc.StatusCode.UNAUTHENTICATED
    finally:
        operator.stop()


def bombard(stub, address):
    """More calls at once than are taken: each is answered or refused, and none is lost."""
    codes = []
    futures = [stub.Plan.future(pb.PlanRequest(manifests=gang(1 + i % 8)), timeout=CALL_SECONDS)
               for i in range(200)]
    for future in futures:
        codes.append(refusal(future.result))
    assert set(codes) <= {grpc.StatusCode.OK, grpc.StatusCode.RESOURCE_EXHAUSTED}, set(codes)
    assert codes.count(grpc.StatusCode.OK) >= 16, codes
    plan_alike_everywhere(stub, address)


def main():
    cluster = Cluster()
    cluster.make_namespace(SPACE)
    with tempfile.TemporaryDirectory() as work:
        operators = [Operator(work, "calls", "--grpc-address", "127.0.0.1:0")]
        address = address_of(operators[0])

        def operator_again():
            operators[-1].stop()
            operators.append(Operator(work, "calls-again", "--grpc-address", address))
            return operators[-1]
        try:
            with grpc.insecure_channel(address) as channel:
                stub = rpc.PlacementServiceStub(channel)
                until_leads(stub)
                for scenario in (show_fabric, plan_alike_everywhere, refuse_what_is_wrong,
                                 run_a_gang, bombard):
                    begin = time.monotonic()
                    scenario(stub, address)
                    print(f"{scenario.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
                explain_both_ways(cluster, stub)
                check_health_and_reflection(channel)
            follow_decisions(cluster, operator_again, address, work)
            find_the_leader(address, work)
        finally:
            operators[-1].stop()
        check_certificates_and_tokens(work)
    cluster.close()


if __name__ == "__main__":
    main()
