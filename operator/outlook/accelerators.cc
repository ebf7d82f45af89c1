#include "operator/outlook/accelerators.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <vector>

#include "operator/base/near_word.h"
#include "operator/fabric/products.h"

namespace weft::outlook {
namespace {

constexpr double kTera = 1e12;
constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kGB = 1e9;

// More specific names stand first, because the first match wins. '|' separates the alternatives of
// `words`. Memory is what the driver reports (nvidia-smi's memory.total, rocm-smi's VRAM total);
// "nominal" in a source means that the data sheet's figure is used instead.
constexpr auto kAccelerators = std::to_array<Accelerator>({
    {"GB300", "gb300", 80 * kTera, 1250 * kTera, 2500 * kTera, 5000 * kTera, 15000 * kTera,
     284'208 * kMiB, 8e12, 1400, "NVIDIA GB300 NVL72 data sheet, 2025; nvidia-smi"},
    {"GB200", "gb200", 80 * kTera, 1250 * kTera, 2500 * kTera, 5000 * kTera, 10000 * kTera,
     189'471 * kMiB, 8e12, 1200, "NVIDIA GB200 NVL72 data sheet, 2024; nvidia-smi"},
    {"B300", "b300", 77 * kTera, 1125 * kTera, 2250 * kTera, 4500 * kTera, 13500 * kTera,
     275'040 * kMiB, 8e12, 1100, "NVIDIA HGX B300 data sheet, 2025; nvidia-smi"},
    {"B200", "b200", 75 * kTera, 1125 * kTera, 2250 * kTera, 4500 * kTera, 9000 * kTera,
     183'359 * kMiB, 7.7e12, 1000, "NVIDIA HGX B200 data sheet, 2024; nvidia-smi"},
    {"H200", "h200", 67 * kTera, 495 * kTera, 989 * kTera, 1979 * kTera, 0, 143'771 * kMiB, 4.8e12,
     700, "NVIDIA H200 data sheet, 2023; nvidia-smi"},
    {"GH200", "gh200", 67 * kTera, 495 * kTera, 989 * kTera, 1979 * kTera, 0, 97'871 * kMiB, 4e12,
     900, "NVIDIA GH200 data sheet, 96 GB HBM3, 2023; nvidia-smi"},
    {"H100-PCIe", "h100 pcie", 51 * kTera, 378 * kTera, 756 * kTera, 1513 * kTera, 0, 81'559 * kMiB,
     2.04e12, 350, "NVIDIA H100 PCIe data sheet, 2022; nvidia-smi"},
    {"H100-NVL", "h100 nvl", 60 * kTera, 418 * kTera, 835 * kTera, 1671 * kTera, 0, 95'830 * kMiB,
     3.9e12, 400, "NVIDIA H100 NVL data sheet, 2023; nvidia-smi"},
    {"H100", "h100", 67 * kTera, 495 * kTera, 989 * kTera, 1979 * kTera, 0, 81'559 * kMiB, 3.35e12,
     700, "NVIDIA H100 SXM5 data sheet, 2022; nvidia-smi"},
    {"A100-40GB", "a100 40gb|tesla a100", 19.5 * kTera, 156 * kTera, 312 * kTera, 0, 0,
     40'960 * kMiB, 1.555e12, 400, "NVIDIA A100 data sheet, 2021; nvidia-smi"},
    {"A100-80GB-PCIe", "a100 80gb pcie", 19.5 * kTera, 156 * kTera, 312 * kTera, 0, 0,
     81'920 * kMiB, 1.935e12, 300, "NVIDIA A100 80GB PCIe data sheet, 2021; nvidia-smi"},
    {"A100-80GB", "a100", 19.5 * kTera, 156 * kTera, 312 * kTera, 0, 0, 81'920 * kMiB, 2.039e12,
     400, "NVIDIA A100 80GB SXM data sheet, 2021; nvidia-smi"},
    {"L40S", "l40s", 91.6 * kTera, 183 * kTera, 362 * kTera, 733 * kTera, 0, 46'068 * kMiB,
     0.864e12, 350, "NVIDIA L40S data sheet, 2023; nvidia-smi"},
    {"V100-32GB", "v100 32gb", 15.7 * kTera, 0, 125 * kTera, 0, 0, 32'768 * kMiB, 0.9e12, 300,
     "NVIDIA V100 SXM2 data sheet, 2018; FP16 alone, no BF16"},
    {"V100", "v100", 15.7 * kTera, 0, 125 * kTera, 0, 0, 16'384 * kMiB, 0.9e12, 300,
     "NVIDIA V100 SXM2 data sheet, 2017; FP16 alone, no BF16"},
    {"RTX-PRO-6000", "rtx pro 6000", 125 * kTera, 251.9 * kTera, 503.8 * kTera, 1007.6 * kTera,
     2015.2 * kTera, 97'887 * kMiB, 1.792e12, 600,
     "NVIDIA RTX Blackwell PRO GPU architecture, 2025; nvidia-smi"},
    {"RTX-5090", "rtx 5090", 104.8 * kTera, 104.8 * kTera, 209.5 * kTera, 419 * kTera, 1676 * kTera,
     32'607 * kMiB, 1.792e12, 575, "NVIDIA RTX Blackwell GPU architecture, 2025; nvidia-smi"},
    {"RTX-4090", "rtx 4090", 82.6 * kTera, 82.6 * kTera, 165.2 * kTera, 330.3 * kTera, 0,
     24'564 * kMiB, 1.008e12, 450, "NVIDIA Ada GPU architecture, 2022; nvidia-smi"},
    {"MI355X", "mi355x", 157.3 * kTera, 0, 2500 * kTera, 5000 * kTera, 10000 * kTera,
     309'220'868'096.0, 8e12, 1400, "AMD Instinct MI355X data sheet, 2025; amd-smi"},
    {"MI325X", "mi325x", 163.4 * kTera, 654 * kTera, 1307 * kTera, 2615 * kTera, 0, 274.5 * kGB,
     6e12, 1000, "AMD Instinct MI325X data sheet, 2024; memory nominal"},
    {"MI300X", "mi300x", 163.4 * kTera, 654 * kTera, 1307 * kTera, 2615 * kTera, 0,
     205'822'562'304.0, 5.3e12, 750, "AMD Instinct MI300X data sheet, 2023; rocm-smi"},
    {"TPU-v5p", "v5p", 0, 0, 459 * kTera, 459 * kTera, 0, 95 * 1024 * kMiB, 2.765e12, 450,
     "Google Cloud, TPU v5p, 2024; watts assumed"},
    {"TPU-v6e", "v6e", 0, 0, 918 * kTera, 918 * kTera, 0, 32 * kGB, 1.638e12, 350,
     "Google Cloud, TPU v6e, 2024; memory nominal, watts assumed"},
    {"Trainium2", "trainium2", 181 * kTera, 362 * kTera, 667 * kTera, 1299 * kTera, 0,
     96 * 1024 * kMiB, 2.9e12, 500, "AWS Neuron, Trainium2 architecture, 2024; watts assumed"},
    {"Gaudi3", "gaudi3|gaudi 3|hl 325", 229 * kTera, 459 * kTera, 1835 * kTera, 1835 * kTera, 0,
     128 * kGB, 3.7e12, 900, "Intel Gaudi 3 white paper, 2024; memory nominal"},
});

using fabric::WordsOf;

// Takes the next run of letters and digits off the text; "" at its end.
std::string_view NextWord(std::string_view& text) {
  const auto part = [&](std::size_t i) {
    return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
  };
  std::size_t begin = 0;
  while (begin < text.size() && !part(begin)) ++begin;
  std::size_t end = begin;
  while (part(end)) ++end;
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

// `small` is in small letters.
bool SameWord(std::string_view small, std::string_view word) {
  return std::equal(small.begin(), small.end(), word.begin(), word.end(), [](char a, char b) {
    return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
  });
}

bool HoldsAll(const std::vector<std::string>& words, std::string_view wanted) {
  if (wanted.empty()) return false;
  for (std::string_view word = NextWord(wanted); !word.empty(); word = NextWord(wanted)) {
    if (std::none_of(words.begin(), words.end(),
                     [&](const std::string& one) { return SameWord(one, word); })) {
      return false;
    }
  }
  return true;
}

bool IsAll(const std::vector<std::string>& words, std::string_view name) {
  for (const std::string& word : words) {
    if (!SameWord(word, NextWord(name))) return false;
  }
  return !words.empty() && NextWord(name).empty();
}

// One of the alternatives parted by '|'.
bool Matches(const std::vector<std::string>& words, std::string_view alternatives) {
  while (!alternatives.empty()) {
    const std::size_t end = std::min(alternatives.find('|'), alternatives.size());
    if (HoldsAll(words, alternatives.substr(0, end))) return true;
    alternatives.remove_prefix(std::min(end + 1, alternatives.size()));
  }
  return false;
}

// Without `products`, a label that has all words of the name means it.
bool Means(const std::vector<std::string>& words, const fabric::AcceleratorSpec& spec) {
  if (spec.products.empty()) return HoldsAll(words, spec.name);
  return IsAll(words, spec.name) ||
         std::any_of(spec.products.begin(), spec.products.end(),
                     [&](const std::string& product) { return HoldsAll(words, product); });
}

Accelerator FromSpec(const fabric::AcceleratorSpec& spec) {
  const auto real = [](std::int64_t value) { return static_cast<double>(value); };
  return {.name = spec.name,
          .words = {},
          .fp32 = real(spec.fp32),
          .tf32 = real(spec.tf32),
          .bf16 = real(spec.bf16),
          .fp8 = real(spec.fp8),
          .fp4 = real(spec.fp4),
          .memory_bytes = real(spec.memory_bytes),
          .memory_bytes_per_second = real(spec.memory_bytes_per_second),
          .watts = real(spec.watts),
          .source = spec.source,
          .calibrated_as = spec.calibrated_as};
}

std::string Listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + std::string(names[i]);
  }
  return text;
}

std::string Small(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

// The fewest edits that make a word of the product the name, if at most a third of it changes.
std::optional<std::size_t> Edits(const std::vector<std::string>& words, std::string_view name) {
  std::optional<std::size_t> least;
  const std::string small = Small(name);
  for (const std::string& word : words) {
    const std::size_t edits = EditDistance(word, small);
    const bool near = 3 * edits <= std::max(word.size(), small.size());
    if (near && (!least || edits < *least)) least = edits;
  }
  return least;
}

std::string KnownNames(std::span<const fabric::AcceleratorSpec> added) {
  std::string known;
  const auto add = [&](std::string_view name) {
    known += (known.empty() ? "" : ", ") + std::string(name);
  };
  for (const fabric::AcceleratorSpec& one : added) add(one.name);
  for (const Accelerator& one : kAccelerators) add(one.name);
  return known;
}

}  // namespace

std::span<const Accelerator> KnownAccelerators() { return kAccelerators; }

Result<Accelerator> FindAccelerator(std::string_view product,
                                    std::span<const fabric::AcceleratorSpec> added) {
  const std::vector<std::string> words = WordsOf(product);
  for (const fabric::AcceleratorSpec& one : added) {
    if (Means(words, one)) return FromSpec(one);
  }
  if (const auto exact = fabric::ProductOfInstanceType(product); !exact.empty()) {
    for (const Accelerator& one : kAccelerators) {
      if (one.name == exact) return one;
    }
  }
  for (const Accelerator& one : kAccelerators) {
    if (IsAll(words, one.name) || Matches(words, one.words)) return one;
  }
  return Invalid("unknown accelerator \"" + std::string(product) + "\"; " +
                 KnownText(product, added));
}

std::string NameOf(const Accelerator& accelerator) {
  const std::string name(accelerator.name);
  if (accelerator.partition.empty()) return name;
  return name + " (" + std::string(accelerator.partition) + ")";
}

bool TakePart(const fabric::Partition& part, std::string_view name, Accelerator& accelerator) {
  if (part.whole()) return true;
  const double by_bytes = part.memory_bytes / accelerator.memory_bytes;
  const double memory = part.memory > 0 ? part.memory : std::min(by_bytes, 1.0);
  const double share = part.compute > 0 ? part.compute : memory;
  if (memory <= 0) return false;
  for (double* figure : {&accelerator.fp32, &accelerator.tf32, &accelerator.bf16, &accelerator.fp8,
                         &accelerator.fp4, &accelerator.watts}) {
    *figure *= share;
  }
  accelerator.memory_bytes =
      part.memory_bytes > 0 ? part.memory_bytes : accelerator.memory_bytes * memory;
  accelerator.memory_bytes_per_second *= memory;
  accelerator.share = share;
  accelerator.partition = name;
  return true;
}

std::string KnownText(std::string_view product, std::span<const fabric::AcceleratorSpec> added) {
  const std::vector<std::string> words = WordsOf(product);
  std::vector<std::string_view> near;
  std::size_t least = 0;
  const auto look = [&](std::string_view name) {
    const auto edits = Edits(words, name);
    if (!edits || (!near.empty() && *edits > least)) return;
    if (near.empty() || *edits < least) near.clear();
    least = *edits;
    near.push_back(name);
  };
  for (const fabric::AcceleratorSpec& one : added) look(one.name);
  for (const Accelerator& one : kAccelerators) look(one.name);
  if (near.empty()) return "known are " + KnownNames(added);
  return std::string("the nearest known ") + (near.size() == 1 ? "is " : "are ") + Listed(near);
}

std::string NoUnitText(const Accelerator& accelerator, traffic::Precision precision) {
  // In the order of traffic::Precision.
  static constexpr std::array<std::string_view, 7> kNames = {"FP32", "TF32",  "FP16", "BF16",
                                                             "FP8",  "MXFP8", "NVFP4"};
  std::vector<std::string_view> has;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (PeakRate(accelerator, static_cast<traffic::Precision>(i)) > 0) has.push_back(kNames[i]);
  }
  return std::string(accelerator.name) + " has no unit for " +
         std::string(kNames[static_cast<std::size_t>(precision)]) + ", only for " + Listed(has);
}

Status CheckAccelerators(std::span<const fabric::AcceleratorSpec> added) {
  for (std::size_t i = 0; i < added.size(); ++i) {
    const std::string at = "[" + std::to_string(i) + "].";
    const auto same = [&](const auto& other) { return other.name == added[i].name; };
    if (std::any_of(added.begin(), added.begin() + static_cast<std::ptrdiff_t>(i), same)) {
      return Invalid(at + "name: \"" + added[i].name + "\" is listed twice");
    }
    const std::string& as = added[i].calibrated_as;
    const auto named = [&](const Accelerator& one) { return one.name == as; };
    if (!as.empty() && std::none_of(kAccelerators.begin(), kAccelerators.end(), named)) {
      return Invalid(at + "calibratedAs: \"" + as + "\" must be one of " + KnownNames({}));
    }
  }
  return {};
}

double PeakRate(const Accelerator& accelerator, traffic::Precision precision) {
  switch (precision) {
    case traffic::Precision::kFP32:
      return accelerator.fp32;
    case traffic::Precision::kTF32:
      return accelerator.tf32;
    case traffic::Precision::kFP16:
    case traffic::Precision::kBF16:
      return accelerator.bf16;
    case traffic::Precision::kFP8:
    case traffic::Precision::kMXFP8:
      return accelerator.fp8;
    case traffic::Precision::kNVFP4:
      return accelerator.fp4;
  }
  return 0;
}

}  // namespace weft::outlook
