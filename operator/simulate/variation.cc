#include "operator/simulate/variation.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "operator/fabric/presets.h"
#include "operator/import/import_text.h"

namespace weft::simulate {
namespace {

constexpr double kMostLoad = 100, kMostFailures = 1e6;

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

Status Set(const std::string& axis, const std::string& text, Variation& one) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = error == std::errc() && end == text.data() + text.size() && value >= 0;
  const bool whole = number && value == std::floor(value) && value >= 1 && value <= 1'000'000;
  const Error bad = Invalid("--sweep " + axis + ": " + import::Quoted(text) + " is out of range");
  if (axis == "load") {
    if (!number || value <= 0 || value > kMostLoad) return bad;
    one.load = value;
  } else if (axis == "taper") {
    if (!whole) return bad;
    one.taper_percent = static_cast<int>(value);
  } else if (axis == "nvlink") {
    if (!whole) return bad;
    one.scale_up_gpus = static_cast<int>(value);
  } else if (axis == "failures") {
    if (!number || value > kMostFailures) return bad;
    one.failures = value;
  } else {
    return Invalid("--sweep: " + import::Quoted(axis) +
                   " is not one of load, taper, nvlink, failures");
  }
  return {};
}

std::vector<std::string> SplitAt(char separator, const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void Taper(int percent, fabric::FabricSpec& spec) {
  const auto set = [&](std::optional<fabric::LinkSpec>& link, const auto& like) {
    if (!link) link = like;
    if (link) link->oversubscription_percent = percent;
  };
  const std::optional<fabric::LinkSpec> narrowest =
      spec.levels.empty() ? std::nullopt : spec.levels.back().link;
  for (std::size_t l = 0; l + 1 < spec.levels.size(); ++l) set(spec.levels[l].link, narrowest);
  set(spec.outside, narrowest);
}

// A node's place in the tree: the values of its level labels.
std::string PathOf(const fabric::FabricSpec& spec, const fabric::NodeFacts& node) {
  std::string path;
  for (const fabric::LevelSpec& level : spec.levels) {
    path += std::string(node.labels.At(level.label_key).value_or("")) + "\n";
  }
  return path;
}

std::int64_t AcceleratorsOf(const fabric::NodeFacts& node, const fabric::FabricSpec& spec) {
  std::int64_t sum = 0;
  for (const auto& [name, amount] : node.allocatable) {
    if (fabric::IsAcceleratorResource(name, spec.accelerator_resources)) sum += amount;
  }
  return sum;
}

// Numbers the nodes of each narrowest domain by name and cuts them into scale-up domains.
Status GroupByScaleUp(int gpus, fabric::FabricSpec& spec, api::Inputs& inputs) {
  if (!spec.scale_up) {
    spec.scale_up = fabric::ScaleUpSpec{
        .name = "nvlink", .label_key = fabric::kCliqueLabel, .link = spec.node_link};
  }
  std::map<std::string, std::vector<std::pair<std::string, std::size_t>>> by_path;
  for (std::size_t n = 0; n < inputs.nodes.size(); ++n) {
    const fabric::NodeFacts& node = inputs.nodes[n].facts;
    const std::int64_t each = AcceleratorsOf(node, spec);
    if (each == 0) continue;
    if (gpus % each != 0) {
      return Invalid("--sweep nvlink: " + std::to_string(gpus) +
                     " GPUs are no whole number of nodes of " + std::to_string(each));
    }
    by_path[PathOf(spec, node)].emplace_back(node.name, n);
  }
  std::size_t domain = 0;
  for (auto& [path, nodes] : by_path) {
    std::sort(nodes.begin(), nodes.end());
    std::int64_t held = gpus;
    for (const auto& [name, n] : nodes) {
      if (held >= gpus) {
        ++domain;
        held = 0;
      }
      held += AcceleratorsOf(inputs.nodes[n].facts, spec);
      inputs.nodes.Edit(n).facts.labels.Set(spec.scale_up->label_key,
                                            "sweep-" + std::to_string(domain));
    }
  }
  return {};
}

// Copies the nodes of the last domain of the narrowest level, under new names.
void AddRack(int number, const fabric::FabricSpec& spec, api::Inputs& inputs) {
  std::map<std::string, std::vector<std::size_t>> by_path;
  for (std::size_t n = 0; n < inputs.nodes.size(); ++n) {
    if (AcceleratorsOf(inputs.nodes[n].facts, spec) == 0) continue;
    by_path[PathOf(spec, inputs.nodes[n].facts)].push_back(n);
  }
  if (by_path.empty() || spec.levels.empty()) return;
  const std::string suffix = "-more-" + std::to_string(number);
  for (const std::size_t n : by_path.rbegin()->second) {
    api::Node copy = inputs.nodes[n];
    copy.meta.key.name = copy.facts.name += suffix;
    copy.meta.uid += suffix;
    const auto rename = [&](const std::string& key) {
      if (const auto value = copy.facts.labels.At(key)) {
        copy.facts.labels.Set(key, std::string(*value) + suffix);
      }
    };
    rename(spec.levels.back().label_key);
    rename("kubernetes.io/hostname");
    if (spec.scale_up) rename(spec.scale_up->label_key);
    inputs.nodes.push_back(std::move(copy));
  }
}

}  // namespace

std::string Variation::Name() const {
  std::string name;
  const auto add = [&](const std::string& text) { name += (name.empty() ? "" : ", ") + text; };
  if (load) add("load " + Number(*load));
  if (taper_percent) add("taper " + Number(*taper_percent / 100.0) + ":1");
  if (scale_up_gpus) add("NVLink domains of " + std::to_string(*scale_up_gpus) + " GPUs");
  if (failures) add(Number(*failures) + " failures per 1,000 node-days");
  if (more_racks > 0)
    add(std::to_string(more_racks) + (more_racks == 1 ? " more rack" : " more racks"));
  return name;
}

Result<std::vector<Variation>> ReadSweep(const std::vector<std::string>& axes) {
  std::vector<Variation> all = {{}};
  for (const std::string& text : axes) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return Invalid("--sweep: " + import::Quoted(text) +
                     " is not an axis with values, such as load=0.7,0.9");
    }
    const std::string axis = text.substr(0, equals);
    std::vector<Variation> more;
    for (const Variation& one : all) {
      for (const std::string& value : SplitAt(',', text.substr(equals + 1))) {
        more.push_back(one);
        if (Status set = Set(axis, value, more.back()); !set) return set.error();
      }
    }
    all = std::move(more);
  }
  return all;
}

Result<api::Inputs> Vary(api::Inputs inputs, const std::string& fabric,
                         const Variation& variation) {
  if (!variation.taper_percent && !variation.scale_up_gpus && variation.more_racks == 0)
    return inputs;
  const auto found = std::find_if(inputs.fabrics.begin(), inputs.fabrics.end(),
                                  [&](const api::Fabric& one) { return one.spec.name == fabric; });
  if (found == inputs.fabrics.end()) {
    return Invalid("--sweep: taper and nvlink need a Fabric object among the manifests");
  }
  if (variation.taper_percent) Taper(*variation.taper_percent, found->spec);
  if (variation.scale_up_gpus) {
    const Status grouped = GroupByScaleUp(*variation.scale_up_gpus, found->spec, inputs);
    if (!grouped) return grouped.error();
  }
  for (int rack = 1; rack <= variation.more_racks; ++rack) AddRack(rack, found->spec, inputs);
  return inputs;
}

}  // namespace weft::simulate
