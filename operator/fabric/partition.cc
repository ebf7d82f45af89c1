#include "operator/fabric/partition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "operator/fabric/products.h"
#include "operator/fabric/resource_words.h"

namespace weft::fabric {
namespace {

using Kind = Partition::Kind;

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kGB = 1e9;
constexpr std::int64_t kMostUnits = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kMig = "-MIG-", kShared = "-SHARED";
constexpr std::string_view kMigResource = "nvidia.com/mig-";
constexpr std::string_view kNvidiaCount = "nvidia.com/gpu.count";
constexpr std::string_view kIntelCount = "gpu.intel.com/device.count";

std::string_view Label(const NodeFacts& node, std::string_view key) {
  return node.labels.At(key).value_or("");
}

std::optional<std::int64_t> Number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

bool Names(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Takes a number and the letters after it off the text: "1g" of "1g.10gb".
std::optional<std::int64_t> TakeNumber(std::string_view& text, std::string_view letters) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (!text.substr(digits).starts_with(letters)) return std::nullopt;
  const auto number = Number(text.substr(0, digits));
  if (number) text.remove_prefix(digits + letters.size());
  return number;
}

// "1/4"; the units that share one accelerator, 0 if unknown.
void Share(std::int64_t units, Partition& part) {
  part.compute = units > 0 ? part.compute / static_cast<double>(units) : Partition::kUnknown;
  part.memory = units > 0 ? part.memory / static_cast<double>(units) : Partition::kUnknown;
  if (units > 0) {
    part.memory_bytes /= static_cast<double>(units);
    part.name += " 1/" + std::to_string(units);
  }
}

// "1g.10gb", "1c.3g.40gb", "1g.10gb+me".
std::optional<Partition> MigOf(std::string_view profile, std::string_view product) {
  const std::vector<std::string> words = WordsOf(product);
  const bool four = Names(words, "a30") || (Names(words, "rtx") && Names(words, "pro"));
  Partition part{.kind = Kind::kHardware, .name = "MIG " + std::string(profile)};
  std::string_view rest = profile;
  const auto own = TakeNumber(rest, "c.");
  const auto slices = TakeNumber(rest, "g.");
  const auto size = TakeNumber(rest, "gb");
  if (!slices || !size) return std::nullopt;
  const auto share = static_cast<double>(own.value_or(*slices)) / (four ? 4 : 7);
  part.compute = std::min(share, 1.0);
  part.memory = Partition::kUnknown;
  part.memory_bytes = static_cast<double>(*size) * kGB;
  return part;
}

// The memory in a label of GPU feature discovery.
void TakeMemory(std::string_view mib, Partition& part) {
  if (const auto number = Number(mib)) part.memory_bytes = static_cast<double>(*number) * kMiB;
}

std::int64_t UnitsOf(const NodeFacts& node, const std::string& resource) {
  const auto capacity = node.capacity.find(resource), offered = node.allocatable.find(resource);
  if (capacity != node.capacity.end()) return capacity->second;
  return offered == node.allocatable.end() ? 0 : offered->second;
}

template <typename Is>
bool AnyResource(const NodeFacts& node, Is is) {
  return std::any_of(node.allocatable.begin(), node.allocatable.end(), is) ||
         std::any_of(node.capacity.begin(), node.capacity.end(), is);
}

bool HasMigSlices(const NodeFacts& node) {
  return AnyResource(
      node, [](const auto& one) { return one.second > 0 && one.first.starts_with(kMigResource); });
}

// How many units share one GPU, or one MIG device, by its labels ("nvidia.com/gpu"); 0 if they
// share it but no label says how many; 1 if they do not share it.
std::int64_t UnitsPerDevice(const NodeFacts& node, const std::string& device) {
  const auto replicas = Number(Label(node, device + ".replicas"));
  if (replicas && *replicas > 1) return *replicas;
  if (const auto clients = Number(Label(node, "cloud.google.com/gke-max-shared-clients-per-gpu"))) {
    return *clients;
  }
  const std::string_view strategy = Label(node, device + ".sharing-strategy");
  const bool shared = Label(node, device + ".product").ends_with(kShared) ||
                      !Label(node, "cloud.google.com/gke-gpu-sharing-strategy").empty() ||
                      (!strategy.empty() && strategy != "none");
  return shared ? 0 : 1;
}

// Counts of units beat the label of replicas, which some releases set to the node's sum; but where
// some GPUs are cut, the label of their number counts these too.
std::int64_t UnitsPerGpu(const NodeFacts& node, const std::string& resource) {
  const std::int64_t units = UnitsOf(node, resource);
  const bool intel = resource.starts_with("gpu.intel.com/");
  const auto gpus = Number(Label(node, intel ? kIntelCount : kNvidiaCount));
  const auto replicas = Number(Label(node, "nvidia.com/gpu.replicas"));
  if (!intel && replicas && *replicas > 1 && HasMigSlices(node)) return *replicas;
  // Not a multiple: the label is older than the devices (a GPU was replaced).
  if (gpus && units > *gpus && units % *gpus == 0) return units / *gpus;
  const std::int64_t per_device = UnitsPerDevice(node, "nvidia.com/gpu");
  const auto registered = Number(Label(node, kRegisteredGpus));
  if (per_device > 1 || !registered || units <= *registered) return per_device;
  return units % *registered == 0 ? units / *registered : 0;
}

void TakeTurns(const NodeFacts& node, const std::string& device, std::int64_t units,
               Partition& part) {
  if (units == 1) return;
  const bool mps = Label(node, device + ".sharing-strategy") == "mps" ||
                   Label(node, "cloud.google.com/gke-gpu-sharing-strategy") == "mps";
  if (!part.whole()) part.name += ", ";
  part.name += mps ? "MPS" : "time slice";
  part.kind = mps ? Kind::kMps : Kind::kTimeSlice;
  Share(units, part);
}

// Whether the name ends with the memory and the kind of a vGPU, such as "8Q" in GRID-V100-8Q.
bool EndsWithProfile(std::string_view product) {
  if (product.empty() || std::string_view("ABCQ").find(product.back()) == product.npos)
    return false;
  const std::size_t digits = product.find_last_not_of("0123456789", product.size() - 2);
  return digits != product.npos && digits + 2 < product.size() && product[digits] == '-';
}

bool NamesVirtual(const NodeFacts& node, std::string_view product) {
  return EndsWithProfile(product) &&
         (product.starts_with("GRID") || Label(node, "nvidia.com/vgpu.present") == "true");
}

Partition NvidiaPart(const NodeFacts& node, const std::string& resource) {
  std::string_view product = Label(node, "nvidia.com/gpu.product");
  Partition part;
  if (resource.starts_with(kMigResource)) {
    std::string device = resource;
    if (device.ends_with(".shared")) device.resize(device.size() - std::string(".shared").size());
    part = MigOf(std::string_view(device).substr(kMigResource.size()), product)
               .value_or(Partition{.kind = Kind::kHardware, .name = "MIG", .compute = 0});
    TakeMemory(Label(node, device + ".memory"), part);
    TakeTurns(node, device, UnitsPerDevice(node, device), part);
    return part;
  }
  if (const std::size_t mig = product.find(kMig); mig != product.npos) {
    std::string_view profile = product.substr(mig + kMig.size());
    if (profile.ends_with(kShared)) profile.remove_suffix(kShared.size());
    part = MigOf(profile, product).value_or(Partition{.kind = Kind::kHardware, .name = "MIG"});
    TakeMemory(Label(node, "nvidia.com/gpu.memory"), part);
    TakeTurns(node, "nvidia.com/gpu", UnitsPerDevice(node, "nvidia.com/gpu"), part);
    return part;
  }
  if (const auto size = Label(node, "cloud.google.com/gke-gpu-partition-size"); !size.empty()) {
    part = MigOf(size, Label(node, "cloud.google.com/gke-accelerator")).value_or(Partition());
    TakeTurns(node, "nvidia.com/gpu", UnitsPerDevice(node, "nvidia.com/gpu"), part);
    return part;
  }
  if (NamesVirtual(node, WholeProduct(product))) {
    part = {.kind = Kind::kVirtual, .name = "vGPU", .compute = 0, .memory = 0};
    TakeMemory(Label(node, "nvidia.com/gpu.memory"), part);
  }
  TakeTurns(node, "nvidia.com/gpu", UnitsPerGpu(node, resource), part);
  return part;
}

// "CPX" of "cpx_nps4", "CPX_NPS4" and "CPX".
std::string ModeOf(std::string_view text) {
  std::string mode(text.substr(0, text.find('_')));
  for (char& c : mode) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return mode;
}

// What a label of AMD's node labeller says; "" where it is missing. Older labellers write the name
// with "beta.", and some only KEY.VALUE=COUNT.
std::string_view AmdLabel(const NodeFacts& node, const std::string& name) {
  for (const std::string& key : {"amd.com/gpu." + name, "beta.amd.com/gpu." + name}) {
    if (const auto value = Label(node, key); !value.empty()) return value;
    const auto is_one = [&](auto label) {
      return label != node.labels.end() && label->first.starts_with(key + ".");
    };
    const auto counted = node.labels.lower_bound(key + ".");
    if (!is_one(counted) || is_one(std::next(counted))) continue;  // none, or GPUs of several kinds
    return counted->first.substr(key.size() + 1);
  }
  return "";
}

struct ComputeUnits {
  std::string_view product;  // a word of it
  std::int64_t whole = 0;
};
constexpr std::array<ComputeUnits, 6> kComputeUnits = {{{"mi300x", 304},
                                                        {"mi325x", 304},
                                                        {"mi300a", 228},
                                                        {"mi308x", 80},
                                                        {"mi350x", 256},
                                                        {"mi355x", 256}}};

// How many parts a GPU has by the compute units of one: of an MI300X with 304, 38 are an eighth.
std::int64_t PartsByUnits(const NodeFacts& node, const std::vector<std::string>& product) {
  const auto units = Number(AmdLabel(node, "cu-count"));
  if (!units) return 1;
  for (const ComputeUnits& known : kComputeUnits) {
    if (!Names(product, known.product)) continue;
    return known.whole % *units == 0 ? known.whole / *units : 1;
  }
  return 1;
}

std::string_view ModeOfParts(std::int64_t parts) {
  return parts == 2 ? "DPX" : parts == 3 ? "TPX" : parts == 4 ? "QPX" : "CPX";
}

Partition AmdPart(const NodeFacts& node, std::string_view resource) {
  static constexpr std::array<std::string_view, 4> kLabels = {
      "amd.com/gpu.compute-memory-partition", "amd.com/compute-memory-partition",
      "beta.amd.com/gpu.compute-memory-partition", "beta.amd.com/compute-memory-partition"};
  std::string mode = ModeOf(resource.substr(resource.find('/') + 1));
  for (std::size_t i = 0; i < kLabels.size() && !mode.ends_with("PX"); ++i) {
    mode = ModeOf(Label(node, kLabels[i]));
  }
  std::string_view product = AmdLabel(node, "product-name");
  if (product.empty()) product = ProductOfInstanceType(AmdLabel(node, "device-id"));
  const std::vector<std::string> words = WordsOf(product);
  const std::int64_t most = Names(words, "mi300a") ? 6 : Names(words, "mi308x") ? 4 : 8;
  const std::int64_t parts = mode == "DPX"          ? 2
                             : mode == "TPX"        ? 3
                             : mode == "QPX"        ? 4
                             : mode == "CPX"        ? most
                             : mode.ends_with("PX") ? 1
                                                    : PartsByUnits(node, words);
  if (parts == 1) return {};
  if (!mode.ends_with("PX")) mode = parts == most ? "CPX" : ModeOfParts(parts);
  Partition part{.kind = Kind::kHardware, .name = mode};
  Share(parts, part);
  return part;
}

// A virtual NPU is named after its cores: "huawei.com/Ascend910-8c",
// "huawei.com/Ascend310P-2c.1cpu".
Partition HuaweiPart(std::string_view resource) {
  const std::size_t dash = resource.rfind('-');
  if (dash == resource.npos) return {};
  std::string_view cores = resource.substr(dash + 1);
  cores = cores.substr(0, cores.find('.'));
  if (!cores.ends_with('c') || !Number(cores.substr(0, cores.size() - 1))) return {};
  return {.kind = Kind::kHardware,
          .name = "vNPU " + std::string(cores),
          .compute = Partition::kUnknown,
          .memory = Partition::kUnknown};
}

// Whether the node has more units of a resource of GPUs than GPUs.
bool OffersMoreThan(const NodeFacts& node, std::int64_t gpus) {
  return AnyResource(node, [&](const auto& one) {
    return one.second > gpus && one.first.find("gpu") != std::string::npos;
  });
}

// Most nodes have whole GPUs only: one look at their labels and resources tells.
bool HintsAtPart(const NodeFacts& node, std::span<const std::string> more) {
  const bool named = AnyResource(node, [&](const auto& one) {
    const bool amd =
        one.first.starts_with("amd.com/") && one.first.find("_nps") != std::string::npos;
    return amd || one.first.starts_with("huawei.com/") || one.first.starts_with(kMigResource) ||
           std::find(more.begin(), more.end(), one.first) != more.end();
  });
  if (named) return true;
  constexpr std::string_view kGpu = "nvidia.com/gpu.";
  return std::any_of(node.labels.begin(), node.labels.end(), [&](const TextMap::Entry& label) {
    const auto& [key, value] = label;
    if (key == kIntelCount) return OffersMoreThan(node, Number(value).value_or(kMostUnits));
    if (key.starts_with("cloud.google.com/gke-")) {
      return key.ends_with("-partition-size") || key.ends_with("-sharing-strategy") ||
             key.ends_with("-shared-clients-per-gpu");
    }
    if (key == kRegisteredGpus) return OffersMoreThan(node, Number(value).value_or(kMostUnits));
    if (!key.starts_with(kGpu)) {
      return key.ends_with("compute-memory-partition") ||
             key.find("amd.com/gpu.cu-count") != key.npos;
    }
    const std::string_view name = key.substr(kGpu.size());
    if (name == "product") {
      return value != WholeProduct(value) || EndsWithProfile(value);
    }
    if (name == "count") return OffersMoreThan(node, Number(value).value_or(kMostUnits));
    return (name == "replicas" && value != "1") || (name == "sharing-strategy" && value != "none");
  });
}

}  // namespace

Partition PartitionOf(const NodeFacts& node, const std::string& resource) {
  const std::string_view vendor = std::string_view(resource).substr(0, resource.find('/'));
  if (vendor == "amd.com") return AmdPart(node, resource);
  if (vendor == "nvidia.com") return NvidiaPart(node, resource);
  if (vendor == "huawei.com") return HuaweiPart(resource);
  Partition part;
  if (ReadResourceName(resource).share) {
    part = {.kind = Kind::kMps, .name = "memory or cores of one", .compute = 0, .memory = 0};
  } else if (resource.find("gpu") != std::string::npos) {  // NVIDIA's, by another device plug-in
    TakeTurns(node, "nvidia.com/gpu", UnitsPerGpu(node, resource), part);
  }
  return part;
}

std::map<std::string, Partition> PartsOf(const NodeFacts& node, std::span<const std::string> more) {
  std::map<std::string, Partition> parts;
  if (!HintsAtPart(node, more)) return parts;
  for (const Resources* amounts : {&node.allocatable, &node.capacity}) {
    for (const auto& [name, amount] : *amounts) {
      if (amount <= 0 || !IsAcceleratorResource(name, more) || parts.contains(name)) continue;
      Partition part = PartitionOf(node, name);
      const bool by_name = name.starts_with(kMigResource) && part.kind == Kind::kHardware;
      if (!part.whole() && !by_name) parts.emplace(name, std::move(part));
    }
  }
  return parts;
}

std::string PartByName(std::string_view resource) {
  if (!resource.starts_with(kMigResource)) return "";
  resource.remove_prefix(kMigResource.size());
  return "MIG " + std::string(resource.substr(0, resource.find(".shared")));
}

std::optional<double> ShareOfUnit(std::string_view unit) {
  constexpr std::string_view kOne = " 1/", kMigPart = "MIG ", kMigProduct = "-MIG-";
  double share = 1;
  if (const std::size_t at = unit.rfind(kOne); at != unit.npos) {
    const auto units = Number(unit.substr(at + kOne.size()));
    if (!units) return std::nullopt;
    share /= static_cast<double>(*units);
    unit = unit.substr(0, at);
  } else if (unit.ends_with("time slice") || unit.ends_with("MPS") || unit.ends_with("one") ||
             unit.find(" vNPU ") != unit.npos || unit.ends_with("vGPU")) {
    return std::nullopt;
  }
  std::size_t mig = unit.find(kMigProduct), begin = mig + kMigProduct.size();
  if (mig == unit.npos) mig = unit.find(kMigPart), begin = mig + kMigPart.size();
  if (mig == unit.npos) return share;
  std::string_view profile = unit.substr(begin);
  profile = profile.substr(0, profile.find_first_of(",-"));
  const auto part = MigOf(profile, unit.substr(0, mig));
  return part ? std::optional(share * part->compute) : std::nullopt;
}

std::string_view WholeProduct(std::string_view product) {
  if (product.ends_with(kShared)) product.remove_suffix(kShared.size());
  return product.substr(0, product.find(kMig));
}

double LabelledGpus(const NodeFacts& node) {
  const auto registered = Number(Label(node, kRegisteredGpus));
  return static_cast<double>(
      Number(Label(node, "nvidia.com/gpu.count")).value_or(registered.value_or(0)));
}

}  // namespace weft::fabric
