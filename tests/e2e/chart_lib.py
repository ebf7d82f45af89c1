"""weft-operator as the chart installs it: its Deployment played on this machine."""

import json
import os
import subprocess

from operator_lib import SOURCE, Operator, free_ports, slowness

SPACE, NAME = "weft-system", "weft-operator"
ACCOUNT = f"system:serviceaccount:{SPACE}:{NAME}"
PLAY = os.path.join(SOURCE, "deploy", "local-cluster", "play_deployment.py")


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def kubectl(*arguments, text=None):
    return run("kubectl", *arguments, text=text)


def install(*values):
    """Or upgrade, to these values alone."""
    port, metrics = free_ports(2)
    deadline = round(5 * slowness())  # a scenario has a gang undone
    run("helm", "upgrade", "--install", "weft", os.environ["WEFT_CHART"], "-n", SPACE,
        "--reset-values", "--wait", "--timeout", "600s",
        "--set", f"probes.port={port},config.bind-deadline={deadline},config.node-loss=3",
        "--set", f"metrics.port={metrics}",
        *(word for value in values for word in ("--set", value)))
    return port, metrics


class Deployed(Operator):
    """Takes values of the chart where others take flags."""

    def __init__(self, work, name, *values):  # pylint: disable=super-init-not-called
        self.name = name
        self.log = os.path.join(work, f"{name}.log")
        self.port, self.metrics_port = install(*values)
        self.start()

    def start(self):
        with open(self.log, "a", encoding="utf-8") as log:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen([PLAY, f"{SPACE}/{NAME}"], stdout=log, stderr=log)

    def forbidden(self):
        """Lines of its log; of new definitions an API server's admission learns in its own time."""
        return [line for line in self.said().splitlines()
                if ("forbidden" in line.lower() or " 403" in line)
                and "cannot find RESTMapping" not in line]


class AccountAudit:
    """What the operator's account asked the API server for, always or from now on."""

    def __init__(self, from_now):
        self.path = os.path.join(os.path.dirname(os.environ["KUBECONFIG"]), "logs", "audit.log")
        self.begin = os.path.getsize(self.path) if from_now and os.path.exists(self.path) else 0

    def requests(self):
        if not os.path.exists(self.path):
            return
        with open(self.path, encoding="utf-8") as file:
            file.seek(self.begin)
            for line in file:
                if not line.endswith("\n"):
                    return  # it is being written
                request = json.loads(line)
                if request["user"]["username"] == ACCOUNT and "impersonatedUser" not in request:
                    yield request

    def used(self):
        """(group, resource, verb) of what was allowed."""
        return {self.right(one) for one in self.requests()
                if one.get("responseStatus", {}).get("code") != 403 and "objectRef" in one}

    def refused(self):
        """Of what was not; admission, which answers 403 too, has no say in it."""
        return {self.right(one) for one in self.requests() if one.get("annotations", {}).get(
            "authorization.k8s.io/decision") == "forbid"}

    @staticmethod
    def right(request):
        thing = request["objectRef"]
        parts = [thing[part] for part in ("resource", "subresource") if part in thing]
        return thing.get("apiGroup", ""), "/".join(parts), request["verb"]


def health(thing):
    """What Argo CD says of an object, by the chart's check of its kind: in Lua, as there."""
    check = os.path.join(os.environ["WEFT_CHART"], "files", "argocd", thing["kind"] + ".lua")
    with open(check, encoding="utf-8") as file:
        return run("lua5.1", "-", text=f"""obj = {lua(thing)}
local health = (function() {file.read()} end)()
assert(type(health.message) == "string")
io.write(health.status)""")


def lua(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{lua(key)}] = {lua(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ", ".join(lua(one) for one in value) + "}"
    return "nil" if value is None else json.dumps(value)


def granted():
    """(group, resource, verb) of every rule that is bound to the account, wherever."""
    rights = set()
    for kind in ("clusterrolebindings", "rolebindings"):
        for binding in json.loads(kubectl("get", kind, "-A", "-o", "json"))["items"]:
            names = [(one["kind"], one["name"]) for one in binding.get("subjects", [])]
            if ("ServiceAccount", NAME) not in names:
                continue
            role, space = binding["roleRef"], binding["metadata"].get("namespace", "")
            where = ["-n", space] if role["kind"] == "Role" else []
            rules = json.loads(kubectl("get", role["kind"], role["name"], *where, "-o", "json"))
            rights |= {(group, resource, verb) for rule in rules["rules"]
                       for group in rule["apiGroups"] for resource in rule["resources"]
                       for verb in rule["verbs"]}
    return rights
