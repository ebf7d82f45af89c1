#include <nlohmann/json.hpp>

#include "operator/api/encode.h"
#include "operator/base/quantity.h"
#include "operator/base/timestamp.h"

namespace weft::api {

namespace {

using OrderedJson = nlohmann::ordered_json;

}  // namespace

OrderedJson EncodeResources(const fabric::Resources& resources) {
  OrderedJson out = OrderedJson::object();
  for (const auto& [name, amount] : resources) {
    const bool milli = name == "cpu" && amount % 1000 != 0;
    const bool cores = name == "cpu" && !milli;
    out[name] = FormatQuantity(cores ? amount / 1000 : amount) + (milli ? "m" : "");
  }
  return out;
}

void EncodeNodeFacts(const fabric::NodeFacts& node, OrderedJson& out) {
  if (node.unschedulable) out["spec"]["unschedulable"] = true;
  for (const fabric::Taint& taint : node.taints) {
    OrderedJson one = {{"key", taint.key}, {"effect", taint.effect}};
    if (!taint.value.empty()) one["value"] = taint.value;
    out["spec"]["taints"].push_back(std::move(one));
  }
  OrderedJson& status = out["status"];
  status["allocatable"] = EncodeResources(node.allocatable);
  if (!node.capacity.empty()) status["capacity"] = EncodeResources(node.capacity);
  for (const fabric::NodeCondition& condition : node.conditions) {
    OrderedJson one = {{"type", condition.type}, {"status", condition.status}};
    if (condition.since > 0) one["lastTransitionTime"] = FormatTime(condition.since);
    status["conditions"].push_back(std::move(one));
  }
}

}  // namespace weft::api
