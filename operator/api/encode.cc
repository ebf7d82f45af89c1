#include "operator/api/encode.h"

#include "operator/api/encode_parts.h"
#include "operator/api/names.h"
#include "operator/base/quantity.h"

namespace weft::api {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson EncodeExperts(const traffic::MixtureOfExperts& moe) {
  OrderedJson out = {{"experts", moe.experts}, {"topK", moe.top_k}, {"layers", moe.layers}};
  PutOptional(out, "feedForwardSize", moe.feed_forward_size);
  if (moe.shared_experts != 0) out["sharedExperts"] = moe.shared_experts;
  return out;
}

OrderedJson EncodeTransformer(const traffic::Transformer& model) {
  OrderedJson out = {{"parameters", model.parameters},
                     {"layers", model.layers},
                     {"hiddenSize", model.hidden_size},
                     {"attentionHeads", model.attention_heads}};
  if (model.key_value_heads != 0) out["keyValueHeads"] = model.key_value_heads;
  PutOptional(out, "keyValueLatentSize", model.key_value_latent_size);
  PutOptional(out, "feedForwardSize", model.feed_forward_size);
  out["gatedFeedForward"] = model.gated_feed_forward;
  if (model.vocabulary_size != 0) out["vocabularySize"] = model.vocabulary_size;
  out["sequenceLength"] = model.sequence_length;
  out["microBatchSize"] = model.micro_batch_size;
  out["globalBatchSize"] = model.global_batch_size;
  out["precision"] = NameOf(kPrecisionNames, model.precision);
  out["gradientPrecision"] = NameOf(kGradientPrecisionNames, model.gradient_precision);
  out["activationRecomputation"] = NameOf(kRecomputationNames, model.recomputation);
  if (model.moe) out["moe"] = EncodeExperts(*model.moe);
  return out;
}

OrderedJson EncodeGroup(const GroupSpec& group) {
  OrderedJson out = {{"axes", OrderedJson::array()}};
  for (const traffic::Axis axis : group.axes) {
    out["axes"].push_back(NameOf(kMeasuredAxisNames, axis));
  }
  PutText(out, "required", group.required);
  PutText(out, "preferred", group.preferred);
  return out;
}

OrderedJson EncodeOwner(const OwnerReference& owner) {
  OrderedJson out = {{"apiVersion", owner.api_version}, {"kind", owner.kind}, {"name", owner.name}};
  PutText(out, "uid", owner.uid);
  if (owner.controller) out["controller"] = true;
  return out;
}

}  // namespace

OrderedJson EncodeModel(const traffic::Model& model) {
  if (model.transformer) {
    return {{"type", "Transformer"}, {"transformer", EncodeTransformer(*model.transformer)}};
  }
  OrderedJson measured = OrderedJson::array();
  for (const traffic::MeasuredAxis& axis : model.measured) {
    measured.push_back({{"axis", NameOf(kMeasuredAxisNames, axis.axis)},
                        {"bytesPerGPU", FormatQuantity(axis.bytes_per_gpu)}});
  }
  return {{"type", "Measured"}, {"measured", std::move(measured)}};
}

OrderedJson EncodeParallelism(const traffic::Parallelism& parallelism) {
  OrderedJson out = {{"tensor", parallelism.tensor},
                     {"context", parallelism.context},
                     {"pipeline", parallelism.pipeline},
                     {"expert", parallelism.expert}};
  if (parallelism.expert_tensor != 0) out["expertTensor"] = parallelism.expert_tensor;
  out["virtualPipeline"] = parallelism.virtual_pipeline;
  out["rankOrder"] = OrderedJson::array();
  for (const traffic::Axis axis : parallelism.rank_order) {
    out["rankOrder"].push_back(NameOf(kMeasuredAxisNames, axis));
  }
  out["sharding"] = NameOf(kShardingNames, parallelism.sharding);
  PutOptional(out, "shardGroupSize", parallelism.shard_group_size);
  return out;
}

OrderedJson EncodeTopology(const TopologySpec& topology) {
  OrderedJson out = OrderedJson::object();
  PutText(out, "required", topology.required);
  PutText(out, "preferred", topology.preferred);
  PutOptional(out, "waitForPreferredSeconds", topology.wait_for_preferred_seconds);
  for (const GroupSpec& group : topology.groups) out["groups"].push_back(EncodeGroup(group));
  if (topology.compute_domain) out["computeDomain"] = "Auto";
  return out;
}

OrderedJson EncodeAccelerator(const Accelerator& accelerator) {
  OrderedJson out = OrderedJson::object();
  if (accelerator.device_class.empty()) {
    out["resourceName"] = accelerator.resource_name;
  } else {
    out["deviceClassName"] = accelerator.device_class;
  }
  if (accelerator.per_worker != 0) out["perWorker"] = accelerator.per_worker;
  if (!accelerator.models.empty()) out["models"] = accelerator.models;
  if (!accelerator.capacity_types.empty()) out["capacityTypes"] = accelerator.capacity_types;
  return out;
}

OrderedJson EncodeLabelSelector(const fabric::LabelSelector& selector) {
  OrderedJson out = OrderedJson::object();
  for (const auto& [key, value] : selector.match_labels) out["matchLabels"][key] = value;
  for (const fabric::SelectorExpression& expression : selector.match_expressions) {
    OrderedJson one = {{"key", expression.key}, {"operator", expression.op}};
    if (!expression.values.empty()) one["values"] = expression.values;
    out["matchExpressions"].push_back(std::move(one));
  }
  return out;
}

OrderedJson EncodeConditions(const std::vector<Condition>& conditions) {
  OrderedJson out = OrderedJson::array();
  for (const Condition& condition : conditions) {
    OrderedJson one = {{"type", condition.type}, {"status", condition.status}};
    PutText(one, "reason", condition.reason);
    PutText(one, "message", condition.message);
    PutText(one, "lastTransitionTime", condition.last_transition_time);
    if (condition.observed_generation > 0) {
      one["observedGeneration"] = condition.observed_generation;
    }
    out.push_back(std::move(one));
  }
  return out;
}

OrderedJson EncodeExcludedNodes(const std::vector<ExcludedNode>& nodes) {
  OrderedJson out = OrderedJson::array();
  for (const ExcludedNode& node : nodes) {
    out.push_back({{"node", node.node}, {"until", node.until}, {"times", node.times}});
    if (node.effect == ExclusionEffect::kNoSchedule) continue;
    out.back()["effect"] = NameOf(kExclusionEffectNames, node.effect);
  }
  return out;
}

OrderedJson EncodeRetry(const Retry& retry) {
  OrderedJson out = {{"times", retry.times}};
  PutText(out, "notBefore", retry.not_before);
  return out;
}

OrderedJson EncodeHead(const char* kind, const ObjectMeta& meta) {
  OrderedJson metadata = {{"name", meta.key.name}};
  PutText(metadata, "namespace", meta.key.space);
  PutText(metadata, "uid", meta.uid);
  PutText(metadata, "resourceVersion", meta.resource_version);
  if (meta.generation != 0) metadata["generation"] = meta.generation;
  PutText(metadata, "creationTimestamp", meta.creation_timestamp);
  if (!meta.labels.empty()) metadata["labels"] = meta.labels;
  if (!meta.annotations.empty()) metadata["annotations"] = meta.annotations;
  for (const OwnerReference& owner : meta.owners) {
    metadata["ownerReferences"].push_back(EncodeOwner(owner));
  }
  return {{"apiVersion", std::string(kGroup) + "/" + kVersion},
          {"kind", kind},
          {"metadata", std::move(metadata)}};
}

OrderedJson EncodePlacementSpec(const Placement& placement) {
  OrderedJson out = {{"workers", placement.workers}};
  PutText(out, "fabricName", placement.fabric_name);
  out["accelerator"] = EncodeAccelerator(placement.accelerator);
  if (placement.model) out["model"] = EncodeModel(*placement.model);
  out["parallelism"] = EncodeParallelism(placement.parallelism);
  OrderedJson topology = EncodeTopology(placement.topology);
  if (!topology.empty()) out["topology"] = std::move(topology);
  if (placement.pod_selector) out["podSelector"] = EncodeLabelSelector(*placement.pod_selector);
  for (const IndexLabel& label : placement.worker_index_labels) {
    out["workerIndexLabels"].push_back({{"key", label.key}, {"stride", label.stride}});
    if (!label.values.empty()) out["workerIndexLabels"].back()["values"] = label.values;
  }
  return out;
}

OrderedJson EncodePlacement(const Placement& placement) {
  OrderedJson status;
  if (!placement.nodes.empty()) status["nodes"] = placement.nodes;
  if (!placement.excluded.empty()) {
    status["excludedNodes"] = EncodeExcludedNodes(placement.excluded);
  }
  if (placement.retry.times > 0) status["retry"] = EncodeRetry(placement.retry);
  if (!placement.conditions.empty()) status["conditions"] = EncodeConditions(placement.conditions);
  return EncodePlacement(placement, std::move(status));
}

OrderedJson EncodePlacement(const Placement& placement, OrderedJson status) {
  OrderedJson out = EncodeHead("Placement", placement.meta);
  out["spec"] = EncodePlacementSpec(placement);
  if (!status.is_null()) out["status"] = std::move(status);
  return out;
}

}  // namespace weft::api
