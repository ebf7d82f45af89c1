"""The three kinds of weft.dev as CustomResourceDefinitions."""

from losses import checkpoint, losses
from parts import accelerator, extended_resource, model, parallelism, shape_rules, topology
from schema import *  # noqa: F403
from torus import link, torus


def definition(kind, names, scope, schema, columns):
    plural = names["plural"]
    version = {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "additionalPrinterColumns": columns,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.weft.dev"},
        "spec": {
            "group": "weft.dev",
            "names": {"kind": kind, "listKind": kind + "List", **names, "categories": ["weft"]},
            "scope": scope,
            "versions": [version],
        },
    }


def root(description, spec, status, name_pattern=None, longest=63):
    metadata = {"type": "object"}
    if name_pattern:
        metadata["properties"] = {"name": text(pattern=name_pattern, longest=longest)}
    return described(
        {
            "type": "object",
            "required": ["spec"],
            "properties": {
                "apiVersion": {"type": "string"},
                "kind": {"type": "string"},
                "metadata": metadata,
                "spec": spec,
                "status": status,
            },
        }, description)


def column(name, path, kind="string", priority=0):
    out = {"name": name, "type": kind, "jsonPath": path}
    if priority:
        out["priority"] = priority
    return out


def condition_column(name, kind, priority=0):
    return column(name, f'.status.conditions[?(@.type=="{kind}")].status', priority=priority)


AGE = column("Age", ".metadata.creationTimestamp", "date")
FABRIC = text("name of the Fabric; default: the namespace's label weft.dev/default-fabric, else the"
              " only Fabric that fits", FABRIC_NAME, longest=63)
REPLICAS = (1, 16384)
NUMBER = {"type": "integer", "format": "int64"}
SHORT = text(longest=253)


def framework():
    port = lambda default: integer((1, 65535), "", default)
    members = {
        "torch": ("Torch", {"rendezvous": enum(["Static", "C10d"], "", "Static"),
                            "port": port(29500)}),
        "deepSpeed": ("DeepSpeed", {"port": port(29500)}),
        "mpi": ("MPI", {"implementation": enum(["OpenMPI", "Intel", "MPICH"], "", "OpenMPI"),
                        "sshPort": integer((1, 65535), "port of every worker's sshd", 2222),
                        "sshUser": text("user that ssh logs in as; default: the user of mpirun",
                                        "^[a-z_][-a-z0-9_]{0,31}$", longest=32)}),
        "jax": ("JAX", {"port": port(1234)}),
        "tensorFlow": ("TensorFlow", {"port": port(2222)}),
    }
    types = [name for name, _ in members.values()] + ["Custom"]
    properties = {"type": enum(types, "how the ranks are started")}
    for member, (name, fields) in members.items():
        properties[member] = object_of(fields)
    rules = [rule(f"self.type == '{name}' || !has(self.{member})",
                  f"{member} is only for type {name}", f".{member}")
             for member, (name, _) in members.items()]
    return object_of(properties, ["type"], rules=rules, default={"type": "Custom"})


def immutable_rules():
    out = []
    for field, optional in (("framework", False), ("accelerator", False), ("workers", False),
                            ("parallelism", False), ("topology", True), ("fabricName", True)):
        same = f"self.{field} == oldSelf.{field}"
        if optional:
            same = (f"has(self.{field}) == has(oldSelf.{field}) && "
                    f"(!has(self.{field}) || {same})")
        out.append(rule(f"self.suspend || oldSelf.suspend || ({same})",
                        f"{field} can change only while the job is suspended", f".{field}"))
    return out


def failure_rules():
    """As podFailurePolicy of batch/v1 has them."""
    exit_codes = object_of(
        {"containerName": SHORT,
         "operator": enum(["In", "NotIn"], "In is tried on every worker that failed, NotIn on the"
                          " worker that is to blame"),
         "values": list_of(integer((-2**31, 2**31 - 1)), 255, least=1)},
        ["operator", "values"],
        rules=[rule("self.operator != 'In' || !(0 in self.values)",
                    "values must not have 0 with the operator In", ".values")])
    condition = object_of({"type": SHORT,
                           "status": enum(["True", "False", "Unknown"], "", "True")}, ["type"])
    return list_of(object_of(
        {"action": enum(["FailJob", "ReplaceNode", "Ignore", "Restart"],
                        "FailJob: the job fails; ReplaceNode: a restart that does not count, and the"
                        " node is excluded for 5 minutes to an hour; Ignore: a restart that does not count; Restart: a restart that"
                        " counts"),
         "onExitCodes": exit_codes,
         "onPodConditions": list_of(condition, 20, least=1)},
        ["action"],
        rules=[rule("has(self.onExitCodes) != has(self.onPodConditions)",
                    "must have exactly one of onExitCodes and onPodConditions")]), 20,
        description="the first rule that matches a failure decides what follows; as podFailurePolicy"
        " of a Job")


def training_job_spec(template):
    workers = object_of(
        {
            "replicas": integer(REPLICAS, "number of workers; worker i is node rank i"),
            "template": described(template, "the pod of every worker"),
        },
        ["replicas", "template"])
    failure_policy = object_of(
        {
            "maxRestarts": integer(SECONDS_OR_ZERO, "number of new attempts after failures", 0),
            "resetAfterSeconds": integer(
                SECONDS, "the count of restarts returns to 0 after the job has run this long"),
            "infrastructure": enum(["RestartUncounted", "RestartCounted", "Fail"],
                                   "what happens after a node was lost, tainted or drained, or a pod"
                                   " preempted",
                                   "RestartUncounted"),
            "rules": failure_rules(),
        }, default={})
    return object_of(
        {
            "suspend": boolean("hold or stop the job", False),
            "fabricName": FABRIC,
            "framework": framework(),
            "accelerator": accelerator(default={}),
            "workers": workers,
            "model": model(),
            "parallelism": parallelism(),
            "topology": topology(),
            "startupTimeoutSeconds": integer(
                SECONDS, "limit from the placement until all pods are Ready", 900),
            "activeDeadlineSeconds": integer(
                SECONDS,
                "limit from the first placement on, over all attempts, without suspended time"),
            "expectedDurationSeconds": integer(
                SECONDS, "expected time from the placement to the end of the job; tells waiting jobs"
                " when its nodes come free; never ends the job"),
            "ttlSecondsAfterFinished": integer(
                SECONDS_OR_ZERO, "delete the job this long after its end"),
            "failurePolicy": failure_policy,
            "checkpoint": checkpoint(),
        },
        ["workers"], rules=shape_rules("self.workers.replicas") + immutable_rules())


def excluded_nodes():
    return list_of(object_of({
        "node": SHORT, "until": {"type": "string", "format": "date-time"},
        "times": {"type": "integer", "format": "int64", "minimum": 0},
        "effect": enum(["NoSchedule", "PreferNoSchedule"], "NoSchedule: not used;"
                       " PreferNoSchedule: avoided; default: NoSchedule")}), 1024)


def retry():
    return object_of({
        "times": {"type": "integer", "format": "int64", "minimum": 0},
        "notBefore": {"type": "string", "format": "date-time"}},
        description="number of attempts that failed in a row, and the earliest time of the next"
        " placement")


def admission():
    texts = {"type": "object", "additionalProperties": {"type": "string"}}
    expression = object_of({
        "key": {"type": "string"},
        "operator": {"type": "string"},
        "values": list_of({"type": "string"}, 4096)})
    term = object_of({
        "matchExpressions": list_of(expression, 4096),
        "matchFields": list_of(expression, 4096)})
    required = object_of({"nodeSelectorTerms": list_of(term, 4096)})
    return object_of({
        "observedGeneration": NUMBER,
        "requests": {
            "type": "object",
            "additionalProperties": {
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "x-kubernetes-int-or-string": True,
            },
        },
        "nodeSelector": texts,
        "tolerations": tolerations(),
        "affinity": object_of({"nodeAffinity": object_of({
            "requiredDuringSchedulingIgnoredDuringExecution": required})}),
        "priorityClassName": SHORT,
    }, description="what admission changes in the pods of this generation; each field replaces the"
        " template's")


def tolerations():
    return list_of(object_of({
        "key": {"type": "string"},
        "operator": {"type": "string"},
        "value": {"type": "string"},
        "effect": {"type": "string"}}), 4096)


def queue():
    texts = {"type": "object", "additionalProperties": {"type": "string"}}
    return object_of({
        "name": SHORT,
        "clusterQueue": SHORT,
        "workload": SHORT,
        "nodeSelector": texts,
        "tolerations": tolerations(),
        "labels": texts,
        "annotations": texts,
    }, description="while the job has quota in a queue of Kueue: the queue, and what the quota's"
        " flavors and AdmissionChecks add to every pod")


def training_job_status():
    count = {"type": "integer", "format": "int64", "minimum": 0}
    return object_of({
        "observedGeneration": NUMBER,
        "phase": SHORT,
        "reason": SHORT,
        "summary": object_of({"workers": SHORT, "spans": SHORT, "crossNode": SHORT,
                              "ofBest": SHORT, "step": SHORT, "tokensPerSecond": SHORT,
                              "memory": SHORT}),
        "attempt": count,
        "restarts": count,
        "placementName": SHORT,
        "workers": object_of({"desired": count, "ready": count, "succeeded": count,
                              "failed": count}),
        "completedIndexes": {"type": "string", "maxLength": 131072},
        "startTime": {"type": "string", "format": "date-time"},
        "completionTime": {"type": "string", "format": "date-time"},
        "lastFailure": object_of({"attempt": count, "worker": count, "node": SHORT,
                                  "reason": SHORT, "exitCode": NUMBER,
                                  "time": {"type": "string", "format": "date-time"},
                                  "message": text(longest=1024), "cause": SHORT,
                                  "counted": {"type": "boolean",
                                              "description": "toward failurePolicy.maxRestarts"}}),
        "suspendedSeconds": count,
        "excludedNodes": excluded_nodes(),
        "retry": retry(),
        **losses(),
        "measuredStepSeconds": described(
            {"type": "number", "minimum": 0},
            "of one optimizer step, by the metric of the annotation weft.dev/step-metric"),
        "admission": admission(),
        "queue": queue(),
        "conditions": conditions(),
    })


def training_job(template):
    columns = [
        column("Phase", ".status.phase"),
        column("Reason", ".status.reason"),
        column("Workers", ".status.summary.workers"),
        column("Spans", ".status.summary.spans"),
        column("Cross-Node", ".status.summary.crossNode"),
        column("Of-Best", ".status.summary.ofBest"),
        column("Step", ".status.summary.step"),
        column("Tokens/s", ".status.summary.tokensPerSecond"),
        column("Memory", ".status.summary.memory"),
        column("Attempt", ".status.attempt", "integer"),
        column("Placement", ".status.placementName", priority=1),
        column("Effective", ".status.lost.effectivePercent", "number", priority=1),
        column("Checkpoint", ".status.checkpoint.lastTime", "date", priority=1),
        column("Fabric", ".spec.fabricName", priority=1),
        column("Queue", r".metadata.labels.kueue\.x-k8s\.io/queue-name", priority=1),
        AGE,
    ]
    names = {"plural": "trainingjobs", "singular": "trainingjob", "shortNames": ["tj"]}
    schema = root("A gang of training workers that is placed as a whole.",
                  training_job_spec(template), training_job_status(), JOB_NAME, 40)
    return definition("TrainingJob", names, "Namespaced", schema, columns)


def placement_status():
    byte_text = text(longest=32)
    domain = object_of({"level": SHORT, "domains": NUMBER})
    flow = object_of({"axis": SHORT, "level": SHORT, "bytes": byte_text,
                      "bytesPerGPU": byte_text})
    traffic = object_of({
        "flows": list_of(flow, 256),
        "crossNodeBytes": byte_text,
        "bestCrossNodeBytes": byte_text,
        "costOverLowerBoundPercent": NUMBER,
        "busiestUplink": object_of({"level": SHORT, "domain": SHORT, "bytes": byte_text,
                                    "milliseconds": NUMBER}),
        "spread": list_of(object_of({"axis": SHORT, "level": SHORT, "domains": NUMBER}), 256),
        "communicationMilliseconds": NUMBER,
    }, description="predicted bytes that one optimizer step sends")
    outlook = object_of({
        "accelerator": SHORT,
        "fits": {"type": "boolean"},
        "memoryPerGPU": object_of({"total": byte_text, "capacity": byte_text, "percent": NUMBER}),
        "stepMilliseconds": NUMBER,
        "stepMillisecondsLow": NUMBER,
        "stepMillisecondsHigh": NUMBER,
        "exposedCommunicationPercent": NUMBER,
        "bubblePercent": NUMBER,
        "boundBy": SHORT,
        "mfuPercent": NUMBER,
        "tokensPerSecond": NUMBER,
        "powerWatts": NUMBER,
        "acceleratorPowerWatts": NUMBER,
        "calibration": SHORT,
        "learnedStep": text(longest=253),
        "learnedPercent": NUMBER,
        "learnedFromJobs": NUMBER,
        "costPerHour": byte_text,
        "currency": SHORT,
    }, description="memory, step time and power that Weft predicts on these nodes")
    return object_of({
        "nodes": list_of(text(longest=253, shortest=1), 16384, "index i: the node of worker i"),
        "spans": list_of(domain, 32),
        "traffic": traffic,
        "outlook": outlook,
        "excludedNodes": excluded_nodes(),
        "retry": retry(),
        "completedIndexes": {"type": "string", "maxLength": 131072,
                             "description": "workers that have succeeded, such as 0,3-5, by the"
                             " status of their Job: no pod of theirs is awaited"},
        "completedJob": text("uid of that Job"),
        "conditions": conditions(),
    })


def placement():
    index_label = object_of(
        {
            "key": label_key("a pod label"),
            "stride": integer(DEGREE, "", 1),
            "values": {
                "description": "the number of each word that the label may have; without it the"
                " label is a number",
                "type": "object",
                "maxProperties": 16,
                "additionalProperties": integer((0, 16384)),
            },
        }, ["key"])
    spec = object_of(
        {
            "workers": integer(REPLICAS),
            "fabricName": FABRIC,
            "accelerator": accelerator(["perWorker"]),
            "model": model(),
            "parallelism": parallelism(),
            "topology": topology(),
            "podSelector": selector("the pods to place, if another controller creates them"),
            "workerIndexLabels": list_of(
                index_label, 8, "worker index = sum of stride x label", kind="map", keys=["key"]),
        },
        ["workers", "accelerator"],
        rules=shape_rules("self.workers") + [
            rule("!has(self.workerIndexLabels) || size(self.workerIndexLabels) == 0"
                 " || has(self.podSelector)",
                 "workerIndexLabels needs podSelector", ".workerIndexLabels")
        ])
    columns = [
        column("Workers", ".spec.workers", "integer"),
        condition_column("Placed", "Placed"),
        condition_column("Verified", "Verified", 1),
        column("Cross-Node", ".status.traffic.crossNodeBytes"),
        column("Best", ".status.traffic.bestCrossNodeBytes"),
        column("Over-Bound", ".status.traffic.costOverLowerBoundPercent", "integer"),
        column("Step-ms", ".status.outlook.stepMilliseconds", "integer"),
        column("Tokens/s", ".status.outlook.tokensPerSecond", "integer"),
        column("Memory-%", ".status.outlook.memoryPerGPU.percent", "integer"),
        AGE,
    ]
    names = {"plural": "placements", "singular": "placement", "shortNames": ["pl"]}
    schema = root("The node of each worker of a gang.", spec, placement_status())
    return definition("Placement", names, "Namespaced", schema, columns)


def levels():
    level = object_of(
        {
            "name": level_name("", ("node", "outside")),
            "labelKey": label_key(),
            "identity": enum(["Value", "Path"], "what names a domain: the label's value, or the"
                             " value under its parent", "Value"),
            "link": link("default: an assumed link"),
            "powerWatts": integer(WATTS, "most watts that the accelerators of gangs in one domain may"
                                  " draw at full power, with their share of the servers; default:"
                                  " no limit"),
        },
        ["name"])
    return list_of(
        level, 16, "levels of the scale-out network, widest first",
        rules=[
            rule("self.all(a, self.exists_one(b, b.name == a.name))", "names must differ"),
            rule("self.all(a, !has(a.labelKey) || self.exists_one(b, has(b.labelKey)"
                 " && b.labelKey == a.labelKey))", "label keys must differ"),
        ])


def scale_up():
    name = level_name("", ("node", "outside"))
    name["default"] = "nvlink"
    return object_of(
        {
            "name": name,
            "labelKey": label_key(),
            "link": link("default: an assumed link"),
            "requires": enum(["ComputeDomain", "Nothing"], "what a pod must claim to use this"
                             " network; default: ComputeDomain if labelKey is"
                             " nvidia.com/gpu.clique, else Nothing"),
        },
        ["labelKey"], "a second network beside the levels")


def planes():
    one = object_of(
        {
            "name": level_name("", ("node", "outside")),
            "labelKey": label_key("nodes with the same value may use the link between them"),
            "link": link("default: an assumed link"),
        }, ["name", "labelKey"])
    return list_of(one, 4, "networks beside the levels that divide the nodes, such as a second"
                   " plane", kind="map", keys=["name"])


def rails():
    return object_of(
        {
            "count": integer((1, 64)),
            "leafLabelKeys": list_of(
                label_key("a node label with the node's leaf on one rail"), 64,
                rules=[rule("self.all(a, self.exists_one(b, a == b))", "keys must differ")]),
        },
        ["count"],
        rules=[rule("!has(self.leafLabelKeys) || size(self.leafLabelKeys) == 0"
                    " || size(self.leafLabelKeys) == self.count",
                    "one key for each rail", ".leafLabelKeys")])


def unusable():
    value = text("absent: any", LABEL_VALUE, longest=63)
    taint = object_of(
        {
            "key": label_key("a taint's key"),
            "value": value,
            "effect": enum(["NoSchedule", "PreferNoSchedule", "NoExecute"], "absent: any"),
        }, ["key"])
    condition = object_of(
        {"type": text(), "status": enum(["True", "False", "Unknown"], "", "True")}, ["type"])
    label = object_of({"key": label_key(), "value": value}, ["key"])
    signals = enum(["Known", "None"], "Known: nodes that a known health monitor, cloud or autoscaler"
                   " marks as faulty or about to be removed are not used either", "Known")
    return object_of(
        {
            "healthSignals": signals,
            "taints": list_of(taint, 64),
            "conditions": list_of(condition, 64),
            "labels": list_of(label, 64),
        },
        description="nodes that are never used, even if a pod tolerates their taints")


def environment():
    variable = object_of(
        {
            "name": described({**text(pattern="^[A-Za-z_][A-Za-z0-9_]*$", longest=253),
                               "x-kubernetes-validations": [
                                   rule("!self.startsWith('WEFT_')", "WEFT_ is reserved")]}, ""),
            "value": text("empty: the variable is not set"),
        }, ["name"])
    return list_of(variable, 64, "variables of every worker; they replace those that Weft derives"
                   " from the fabric", kind="map", keys=["name"])


def accelerators():
    peak = {name: quantity(1, "") for name in ("fp32", "tf32", "bf16", "fp8", "fp4")}
    one = object_of(
        {
            "name": text("name of the accelerator; a name of Weft's table replaces that entry",
                         LEVEL_NAME, longest=40),
            "products": list_of(text("a product label with all of these words means this"
                                     " accelerator; default: the words of the name",
                                     "[A-Za-z0-9]"), 16),
            "peakFLOPS": object_of(peak, ["bf16"], "floating-point operations per second in dense"
                                   " matrix products, by precision; absent: the accelerator does"
                                   " not support it"),
            "memory": quantity(1, "bytes, as the driver reports them"),
            "memoryBandwidth": quantity(1, "bytes per second"),
            "powerWatts": integer(WATTS, "power limit of one accelerator"),
            "calibratedAs": text("the accelerator of Weft's table whose calibration it uses;"
                                 " default: none"),
            "source": text("where the figures are from"),
        }, ["name", "peakFLOPS", "memory", "memoryBandwidth", "powerWatts"])
    return list_of(one, 64, "accelerators that Weft's table lacks", kind="map", keys=["name"])


def pooled_memory():
    return object_of(
        {
            "perGPU": quantity(1, "bytes that one accelerator may use"),
            "bandwidthPerGPU": quantity(1, "bytes per second of one accelerator, one direction"),
        }, ["perGPU", "bandwidthPerGPU"],
        "memory outside the accelerators (CXL) for the optimizer's state that does not fit")


def failure_rates():
    one = object_of(
        {
            "level": level_name("a level, of which whole domains fail, or node"),
            "per1000Days": number((0, 100000), "failures of one node or domain in 1,000 days"),
            "repairSeconds": integer(SECONDS, "how long it is then away"),
        }, ["level", "per1000Days", "repairSeconds"])
    return list_of(one, 18, "how often nodes and whole domains fail, for weft advise --spares",
                   kind="map", keys=["level"])


def fabric_rules():
    keys = "has(self.rails) && has(self.rails.leafLabelKeys) && size(self.rails.leafLabelKeys) > 0"
    return [
        rule("has(self.preset) != has(self.levels)", "give either preset or levels"),
        rule("!has(self.powerLimits) || has(self.preset)",
             "is for a preset; a level has its own powerWatts", ".powerLimits"),
        rule("!has(self.levels) || !has(self.scaleUp)"
             " || !self.levels.exists(l, l.name == self.scaleUp.name)",
             "the scale-up network's name must differ from the levels'", ".scaleUp.name"),
        rule("!has(self.torus) || ((!has(self.scaleUp) || self.torus.name != self.scaleUp.name)"
             " && (!has(self.levels) || !self.levels.exists(l, l.name == self.torus.name)))",
             "the torus's name must differ from those of the levels and the scale-up network",
             ".torus.name"),
        rule("!has(self.torus) || !has(self.torus.level) || !has(self.levels)"
             " || self.levels.exists(l, l.name == self.torus.level)",
             "must be the name of a level", ".torus.level"),
        rule("!has(self.planes) || self.planes.all(p, (!has(self.levels)"
             " || !self.levels.exists(l, l.name == p.name))"
             " && (!has(self.scaleUp) || self.scaleUp.name != p.name)"
             " && (!has(self.torus) || self.torus.name != p.name))",
             "a plane's name must differ from those of the other networks", ".planes"),
        rule("!has(self.failureRates) || !has(self.levels) || self.failureRates.all(r,"
             " r.level == 'node' || self.levels.exists(l, l.name == r.level)"
             " || (has(self.scaleUp) && self.scaleUp.name == r.level))",
             "level must be the name of a level, or node", ".failureRates"),
        rule(f"!has(self.levels) || self.levels.all(l, has(l.labelKey)) || ({keys}"
             " && size(self.levels.filter(l, !has(l.labelKey))) == 1"
             " && !has(self.levels[size(self.levels) - 1].labelKey))",
             "every level needs a labelKey, except the last one if rails.leafLabelKeys is given",
             ".levels"),
        rule(f"!({keys}) || (has(self.levels) && size(self.levels) > 0)",
             "leafLabelKeys needs a level", ".rails.leafLabelKeys"),
    ]


def fabric():
    spec = object_of(
        {
            "preset": text("a known family of node labels, instead of levels", shortest=1),
            "powerLimits": list_of(object_of({
                "level": level_name("", ("node", "outside")),
                "watts": integer(WATTS, "powerWatts of that level"),
            }, ["level", "watts"]), 16, "limits of power on levels of a preset", kind="map",
                keys=["level"]),
            "nodeSelector": selector("default: nodes with a known accelerator resource", True),
            "levels": levels(),
            "outside": link("link between the widest domains; default: the widest level's link"),
            "scaleUp": scale_up(),
            "torus": torus(),
            "planes": planes(),
            "nodeLink": link("link inside a node; default: the scale-up link, else the torus's,"
                             " else an assumed link"),
            "rails": rails(),
            "unusable": unusable(),
            "costTolerancePercent": integer(
                (0, 100), "placements whose cost is within this percentage of the best count as"
                " equal", 1),
            "acceleratorModel": text("product of the nodes whose labels name none"),
            "acceleratorResources": list_of(
                extended_resource(), 64, "extended resources that count as accelerators, beside"
                " those that Weft knows by name"),
            "accelerators": accelerators(),
            "pooledMemory": pooled_memory(),
            "environment": environment(),
            "failureRates": failure_rates(),
        },
        rules=fabric_rules())
    status = object_of({
        "nodes": NUMBER,
        "accelerators": NUMBER,
        "levels": list_of(object_of({
            "name": SHORT, "domains": NUMBER,
            "bandwidthSource": enum(["Declared", "KnownType", "Assumed"])}), 32),
        "incompleteCount": NUMBER,
        "incomplete": list_of(object_of({"node": SHORT, "missing": SHORT}), 256),
        "conditions": conditions(),
    })
    columns = [
        column("Nodes", ".status.nodes", "integer"),
        column("Accelerators", ".status.accelerators", "integer"),
        column("Incomplete", ".status.incompleteCount", "integer"),
        column("Preset", ".spec.preset", priority=1),
        AGE,
    ]
    names = {"plural": "fabrics", "singular": "fabric", "shortNames": ["fab"]}
    schema = root("The network that connects the nodes.", spec, status, FABRIC_NAME)
    return definition("Fabric", names, "Cluster", schema, columns)
