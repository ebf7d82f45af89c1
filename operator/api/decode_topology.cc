#include "operator/api/decode_topology.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "operator/api/names.h"

namespace weft::api {
namespace {

std::string ReadConstraint(const Field& field) {
  std::string level = ReadLevelName(field);
  if (level == "outside") field.Fail("is not a level: it holds every node");
  return level;
}

GroupSpec DecodeGroup(const Field& field) {
  field.RefuseUnknown({"axes", "required", "preferred"});
  GroupSpec group;
  const Field axes = field["axes"];
  for (const Field& item : ReadItems(axes.Require(), kGroupAxisNames.size())) {
    if (!item.present()) item.Fail("must be a string");
    const auto axis = ReadEnum<traffic::Axis>(item, kGroupAxisNames);
    if (std::find(group.axes.begin(), group.axes.end(), axis) != group.axes.end()) {
      item.Fail("is given twice");
    }
    group.axes.push_back(axis);
  }
  if (group.axes.empty()) axes.Fail("must name at least one axis");
  group.required = ReadConstraint(field["required"]);
  group.preferred = ReadConstraint(field["preferred"]);
  if (group.required.empty() && group.preferred.empty()) {
    field.Fail("needs required, preferred or both");
  }
  return group;
}

// Reads a list in order of preference; a duplicate entry is an error.
template <typename Read>
std::vector<std::string> ReadPreferences(const Field& list, Read read) {
  std::vector<std::string> entries;
  for (const Field& item : ReadItems(list, kModelsAtMost)) {
    if (!item.present()) item.Fail("must be a string");
    std::string entry = read(item);
    if (std::find(entries.begin(), entries.end(), entry) != entries.end()) {
      item.Fail("is given twice");
    }
    entries.push_back(std::move(entry));
  }
  if (list.present() && entries.empty()) list.Fail("must name at least one");
  return entries;
}

bool IsInteger(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

fabric::SelectorExpression DecodeExpression(const Field& field, Comparisons comparisons) {
  field.RefuseUnknown({"key", "operator", "values"});
  fabric::SelectorExpression expression;
  expression.key = ReadLabelKey(field["key"].Require());
  expression.op = field["operator"].Str();
  const Field op = field["operator"].Require(), values = field["values"];
  if (comparisons == Comparisons::kGtLt) {
    op.OneOf({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"});
  } else {
    op.OneOf({"In", "NotIn", "Exists", "DoesNotExist"});
  }
  ReadItems(values, kSelectorValuesAtMost);
  expression.values = values.StrList();
  const std::size_t count = expression.values.size();
  if (expression.op == "In" || expression.op == "NotIn") {
    if (count == 0) values.Fail("must not be empty with operator " + expression.op);
  } else if (expression.op == "Exists" || expression.op == "DoesNotExist") {
    if (count != 0) values.Fail("must be absent with operator " + expression.op);
  } else if (count != 1 || !IsInteger(expression.values[0])) {
    values.Fail("must be one integer with operator " + expression.op);
  }
  return expression;
}

}  // namespace

TopologySpec DecodeTopology(const Field& field) {
  field.RefuseUnknown(
      {"required", "preferred", "waitForPreferredSeconds", "groups", "computeDomain"});
  TopologySpec topology;
  topology.required = ReadConstraint(field["required"]);
  topology.preferred = ReadConstraint(field["preferred"]);
  const Field wait = field["waitForPreferredSeconds"];
  topology.wait_for_preferred_seconds = wait.OptionalInt(kSecondsOrZero);
  if (wait.present() && topology.preferred.empty()) wait.Fail("needs preferred");
  for (const Field& item : ReadItems(field["groups"], kGroupsAtMost)) {
    if (!item.present()) item.Fail("must be an object");
    topology.groups.push_back(DecodeGroup(item));
  }
  const Field domain = field["computeDomain"];
  if (domain.present()) domain.OneOf({"Auto"});
  topology.compute_domain = domain.present();
  return topology;
}

Accelerator DecodeAccelerator(const Field& field) {
  field.RefuseUnknown({"resourceName", "deviceClassName", "perWorker", "models", "capacityTypes"});
  Accelerator accelerator;
  const Field resource = field["resourceName"], device_class = field["deviceClassName"];
  const std::string by_default = accelerator.resource_name;
  accelerator.resource_name = resource.Str(by_default);
  if (device_class.present()) {
    accelerator.device_class = device_class.Str();
    if (!IsSubdomain(accelerator.device_class)) {
      device_class.Fail("must be the name of a DeviceClass such as gpu.nvidia.com");
    }
    // The schema sets the default before anyone sees the object.
    if (accelerator.resource_name != by_default) resource.Fail("excludes deviceClassName");
    accelerator.resource_name = std::string(kClassResourcePrefix) + accelerator.device_class;
  } else if (!IsExtendedResource(accelerator.resource_name) &&
             !accelerator.resource_name.starts_with(kClassResourcePrefix)) {  // of a snapshot
    resource.Fail("must be an extended resource such as nvidia.com/gpu");
  }
  accelerator.per_worker = static_cast<std::uint32_t>(field["perWorker"].Int(kPerWorker));
  accelerator.models = ReadPreferences(field["models"], [](const Field& item) {
    std::string model = ReadLabelValue(item);
    if (model.empty()) item.Fail("must not be empty");
    return model;
  });
  accelerator.capacity_types = ReadPreferences(field["capacityTypes"], [](const Field& item) {
    constexpr std::array<const char*, 3> kTypes = {"OnDemand", "Spot", kAnyPool};
    return std::string(kTypes[item.OneOf({kTypes[0], kTypes[1], kTypes[2]})]);
  });
  return accelerator;
}

fabric::LabelSelector DecodeStrictSelector(const Field& field, Comparisons comparisons) {
  field.RefuseUnknown({"matchLabels", "matchExpressions"});
  fabric::LabelSelector selector;
  const std::vector<Field> labels = field["matchLabels"].Members();
  if (labels.size() > kRulesAtMost) {
    field["matchLabels"].Fail("must have at most " + std::to_string(kRulesAtMost) + " labels");
  }
  for (const Field& label : labels) {
    if (!label.present()) label.Fail("must be a string");
    if (!IsQualifiedName(label.key())) label.Fail("must be a label key such as example.com/rack");
    selector.match_labels.emplace(label.key(), ReadLabelValue(label));
  }
  for (const Field& item : ReadItems(field["matchExpressions"], kRulesAtMost)) {
    if (!item.present()) item.Fail("must be an object");
    selector.match_expressions.push_back(DecodeExpression(item, comparisons));
  }
  return selector;
}

}  // namespace weft::api
