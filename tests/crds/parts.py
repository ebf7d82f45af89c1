"""Parts of a spec that TrainingJob and Placement share."""

from schema import *  # noqa: F403

AXES = ["Tensor", "Context", "Data", "Pipeline", "Expert", "ExpertTensor"]
RANK_AXES = AXES[:4]
MEASURED_AXES = AXES + ["Sharding"]


def experts():
    return object_of(
        {
            "experts": integer(DEGREE, "number of routed experts of a layer"),
            "topK": integer(DEGREE, "number of experts that a token is sent to", 1),
            "layers": integer(DEGREE, "number of layers that hold experts"),
            "feedForwardSize": integer(WIDTH, "width of one expert"),
            "sharedExperts": integer(COUNT, "number of experts that every token passes", 0),
        },
        ["experts", "layers"], "mixture of experts",
        [rule("self.topK <= self.experts", "topK must not be more than experts", ".topK")])


def transformer():
    return object_of(
        {
            "parameters": integer((1, 10**15), "number of all parameters"),
            "layers": integer(DEGREE),
            "hiddenSize": integer(WIDTH),
            "attentionHeads": integer(DEGREE),
            "keyValueHeads": integer(DEGREE, "default: attentionHeads"),
            "keyValueLatentSize": integer(WIDTH, "latent attention: size of the vector from which a"
                                          " token's keys and values are computed; default: none"),
            "feedForwardSize": integer(WIDTH, "default: derived from the parameters"),
            "gatedFeedForward": boolean("three matrices instead of two", True),
            "vocabularySize": integer((0, WIDTH[1])),
            "sequenceLength": integer(WIDTH, "tokens"),
            "microBatchSize": integer(DEGREE, "number of sequences that a rank computes at once"),
            "globalBatchSize": integer(WIDTH, "number of sequences of one optimizer step"),
            "precision": enum(["FP32", "TF32", "FP16", "BF16", "FP8", "MXFP8", "NVFP4"],
                              "format of matrix products; on the wire FP32 and TF32 have 4"
                              " bytes, the others 2",
                              "BF16"),
            "gradientPrecision": enum(["FP32", "BF16", "FP16", "INT8"],
                                      "format of gradients on the wire", "FP32"),
            "activationRecomputation": enum(["None", "Selective", "Full"], "", "None"),
            "moe": experts(),
        },
        ["parameters", "layers", "hiddenSize", "attentionHeads", "sequenceLength",
         "microBatchSize", "globalBatchSize"],
        "a transformer; formulas predict its bytes",
        [
            rule("!has(self.keyValueHeads) || self.keyValueHeads <= self.attentionHeads",
                 "keyValueHeads must not be more than attentionHeads", ".keyValueHeads"),
            rule("!has(self.moe) || self.moe.layers <= self.layers",
                 "moe.layers must not be more than the layers", ".moe.layers"),
        ])


def model():
    measured = object_of(
        {
            "axis": enum(MEASURED_AXES),
            "bytesPerGPU": quantity(0, "bytes that one GPU sends in one step"),
        },
        ["axis", "bytesPerGPU"])
    return object_of(
        {
            "type": enum(["Transformer", "Measured"]),
            "transformer": transformer(),
            "measured": list_of(measured, 7, "measured bytes, for models that no formula covers", 1,
                                "map", ["axis"]),
        },
        description="what the ranks compute; used only to predict traffic, memory, step time and"
        " power",
        rules=[
            rule("has(self.type) || (!has(self.transformer) && !has(self.measured))",
                 "type is required"),
            rule("!has(self.type) || (self.type == 'Transformer') == has(self.transformer)",
                 "transformer is required with type Transformer and only allowed there"),
            rule("!has(self.type) || (self.type == 'Measured') == has(self.measured)",
                 "measured is required with type Measured and only allowed there"),
        ])


def parallelism():
    return object_of(
        {
            "tensor": integer(DEGREE, "", 1),
            "context": integer(DEGREE, "", 1),
            "pipeline": integer(DEGREE, "", 1),
            "expert": integer(DEGREE, "", 1),
            "expertTensor": integer(DEGREE, "default: tensor"),
            "virtualPipeline": integer(DEGREE, "", 1),
            "rankOrder": list_of(
                enum(RANK_AXES), 4, "the first axis varies fastest", 4,
                rules=[rule("self.all(a, self.exists_one(b, a == b))",
                            "must name each axis once")],
                default=["Tensor", "Context", "Data", "Pipeline"]),
            "sharding": enum(["None", "OptimizerState", "Gradients", "Full", "Hybrid"],
                             "None, OptimizerState, Gradients and Full are ZeRO 0, 1, 2 and 3;"
                             " Hybrid is HSDP", "None"),
            "shardGroupSize": integer(DEGREE, "ranks of one shard group, with sharding Hybrid"),
        },
        description="degrees of parallelism; that of data is the world divided by tensor x context"
        " x pipeline", default={},
        rules=[rule("(has(self.sharding) && self.sharding == 'Hybrid') =="
                    " has(self.shardGroupSize)",
                    "shardGroupSize is required with Hybrid and only allowed there",
                    ".shardGroupSize")])


def topology():
    group = object_of(
        {
            "axes": list_of(enum(AXES), 6,
                            "axes; ranks in one group of any of these axes stay together", 1,
                            "set"),
            "required": level_name("each set of ranks must be inside one domain of this level"),
            "preferred": level_name("each set of ranks should be inside one domain of this level"),
        },
        ["axes"],
        rules=[rule("has(self.required) || has(self.preferred)",
                    "needs required, preferred or both")])
    return object_of(
        {
            "required": level_name("the whole job must be inside one domain of this level"),
            "preferred": level_name("the whole job should be inside one domain of this level;"
                                    " else of a wider one, up to required"),
            "waitForPreferredSeconds": integer(
                SECONDS_OR_ZERO, "wait this long for preferred before settling for a wider level"),
            "groups": list_of(group, 3, "parts of the job that must or should stay together"),
            "computeDomain": enum(
                ["Auto"], "Auto: Weft makes a ComputeDomain (resource.nvidia.com) and the pods'"
                " claims for each attempt that shares an NVLink domain between nodes; for"
                " TrainingJobs"),
        },
        rules=[rule("!has(self.waitForPreferredSeconds) || has(self.preferred)",
                    "waitForPreferredSeconds needs preferred", ".waitForPreferredSeconds")])


def extended_resource(description="", **more):
    resource = text(description, RESOURCE, longest=317, **more)
    resource["x-kubernetes-validations"] = [
        rule("!self.contains('kubernetes.io/') && !self.startsWith('requests.')",
             "must be an extended resource, not one of Kubernetes' own")
    ]
    return resource


def accelerator(required=(), default=None):
    resource = extended_resource("extended resource of the accelerators", default="nvidia.com/gpu")
    once = [rule("self.all(a, self.exists_one(b, a == b))", "must name each once")]
    return object_of(
        {
            "resourceName": resource,
            "deviceClassName": text(
                "DeviceClass of dynamic resource allocation, such as gpu.nvidia.com, of which each"
                " worker claims perWorker devices, instead of resourceName", SUBDOMAIN, longest=253),
            "perWorker": integer((1, 256), "accelerators of one worker, one rank each"),
            "models": list_of(
                text("a product name or one of its words, such as H100; Any: products may be mixed",
                     LABEL_VALUE, longest=63, shortest=1),
                16, "products in order of preference; default: any one, never mixed in a gang", 1,
                rules=once),
            "capacityTypes": list_of(
                enum(["OnDemand", "Spot", "Any"]), 3,
                "capacity types in order of preference; default: any one, never mixed in a gang", 1,
                rules=once),
        },
        required, default=default, rules=[
            rule("!has(self.deviceClassName) || self.resourceName == 'nvidia.com/gpu'",
                 "resourceName excludes deviceClassName", ".resourceName"),
            rule("!has(self.deviceClassName) || has(self.perWorker)",
                 "deviceClassName needs perWorker", ".perWorker")])


def shape_rules(workers):
    """Which degrees divide which; if perWorker is absent, the operator checks that later."""
    per_worker = "self.accelerator.perWorker"
    known = f"!has({per_worker}) || "
    world = f"{workers} * {per_worker}"
    p = "self.parallelism."
    dense = f"({p}tensor * {p}context * {p}pipeline)"
    expert_tensor = f"(has({p}expertTensor) ? {p}expertTensor : {p}tensor)"
    transformer_known = "!has(self.model) || !has(self.model.transformer) || "
    return [
        rule(f"{known}{world} % {dense} == 0",
             "the world (workers x perWorker) must be a multiple of tensor x context x pipeline",
             ".parallelism"),
        rule(f"{known}{world} % {dense} != 0 || !has({p}shardGroupSize) || "
             f"{world} / ({p}tensor * {p}pipeline) % {p}shardGroupSize == 0",
             "shardGroupSize must divide the gradient group (data x context)",
             ".parallelism.shardGroupSize"),
        rule(f"{known}{transformer_known}{world} % {dense} != 0 || "
             "self.model.transformer.globalBatchSize % (self.model.transformer.microBatchSize * "
             f"({world} / {dense})) == 0",
             "globalBatchSize must be a multiple of microBatchSize x data",
             ".model.transformer.globalBatchSize"),
        rule(f"{known}{world} % {dense} != 0 || {p}expert == 1 || {world} / {p}pipeline % "
             f"({p}expert * {expert_tensor}) == 0",
             "expert x expertTensor must divide the ranks of a pipeline stage",
             ".parallelism.expert"),
        rule(f"{known}{world} % {dense} != 0 || {p}expert == 1 || !has({p}shardGroupSize) || "
             f"{world} / {p}pipeline / ({p}expert * {expert_tensor}) % {p}shardGroupSize == 0",
             "shardGroupSize must divide the ranks that hold the same experts",
             ".parallelism.shardGroupSize"),
        rule(f"{transformer_known}{p}expert == 1 || has(self.model.transformer.moe)",
             "expert above 1 needs model.transformer.moe", ".parallelism.expert"),
    ]
