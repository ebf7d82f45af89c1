#include "operator/fabric/products.h"

#include <algorithm>
#include <array>

namespace weft::fabric {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSmall(char c) { return c >= 'a' && c <= 'z'; }

// The words that an instance type has of one accelerator; '#' stands for a number, '|' separates
// alternatives. More specific rows stand first, because the first match wins.
//
// Source  AWS: "Amazon EC2 instance types: accelerated computing", 2026. Google Cloud: "GPU machine
//         types" and "TPU configurations in GKE", 2026. Azure: "GPU-accelerated virtual machine
//         sizes", 2026. Oracle: "Compute shapes", 2026. Alibaba Cloud: "ECS instance families",
//         2026. AMD: pci.ids, vendor 1002; GPUDeviceIDToModelName of AMD's GPU test runner (ROCm),
//         which also names virtual functions, 2026.
struct InstanceTypes {
  std::string_view words, product;
};
constexpr auto kInstanceTypes = std::to_array<InstanceTypes>({
    {"p6e gb300|a4x maxgpu", "GB300"},
    {"p6e gb200|a4x highgpu|nd#isr gb200", "GB200"},
    {"p6 b300", "B300"},
    {"p6 b200|a4 highgpu", "B200"},
    {"p5e|p5en|a3 ultragpu|nd#isr h200|nd#isrf h200|gd #xh200ib", "H200"},
    {"nc#ads h100|nc#adis h100", "H100-NVL"},
    {"p5|a3 highgpu|a3 megagpu|a3 edgegpu|nd#isr h100|nd#isrf h100|gd #xh100ib", "H100"},
    {"nc#ads a100", "A100-80GB-PCIe"},
    {"p4de|a2 ultragpu|nd#amsr a100|gpu a100 v2|gn7e|ebmgn7e", "A100-80GB"},
    {"p4d|a2 highgpu|a2 megagpu|nd#asr|bm gpu4|bm gpu b4|gn7|ebmgn7", "A100-40GB"},
    {"g7e|g4 standard", "RTX-PRO-6000"},
    {"g6e", "L40S"},
    {"g6|gr6|g2 standard", "L4"},
    {"g5", "A10G"},
    {"nv#ads a10|nv#adms a10|gn7i|ebmgn7i", "A10"},
    {"g4dn|nc#as t4|gn6i|ebmgn6i", "T4"},
    {"g5g", "T4G"},
    {"p3dn|nd#rs v2|gn6e|ebmgn6e", "V100-32GB"},
    {"p3|nc#s v3|nc#rs v3|bm gpu3|vm gpu3|gn6v|ebmgn6v", "V100"},
    {"nc#s v2|nc#rs v2|bm gpu2|vm gpu2", "P100"},
    {"p2", "K80"},
    {"nd#isr mi300x|gpu mi300x#|74a1|74b5", "MI300X"},
    {"74a9|74bd", "MI300X-HF"},
    {"74a0", "MI300A"},
    {"74a2|74b6", "MI308X"},
    {"74a8|74bc", "MI308X-HF"},
    {"74a5|74b9", "MI325X"},
    {"75a0|75b0", "MI350X"},
    {"75a3|75b3", "MI355X"},
    {"75a8|75b8", "MI350P"},
    {"7408", "MI250X"},
    {"740c", "MI250"},
    {"740f|7410", "MI210"},
    {"tpu7x", "TPU-v7x"},
    {"ct6e", "TPU-v6e"},
    {"ct5p", "TPU-v5p"},
    {"ct5l|ct5lp|tpu v5 lite", "TPU-v5e"},
    {"ct4p", "TPU-v4"},
    {"trn2|trn2u", "Trainium2"},
    {"trn1|trn1n", "Trainium"},
    {"inf2", "Inferentia2"},
    {"dl1", "Gaudi"},
});

// Takes the text up to the separator off the front.
std::string_view TakePart(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// '#' in the pattern is one digit or more.
bool SameWord(std::string_view pattern, std::string_view word) {
  std::size_t at = 0;
  for (const char c : pattern) {
    if (c == '#') {
      if (at == word.size() || !IsDigit(word[at])) return false;
      while (at < word.size() && IsDigit(word[at])) ++at;
    } else if (at == word.size() || word[at++] != c) {
      return false;
    }
  }
  return at == word.size();
}

bool HoldsAll(const std::vector<std::string>& words, std::string_view patterns) {
  while (!patterns.empty()) {
    const std::string_view pattern = TakePart(patterns, ' ');
    if (std::none_of(words.begin(), words.end(),
                     [&](const std::string& word) { return SameWord(pattern, word); })) {
      return false;
    }
  }
  return true;
}

// The word without a number of accelerators: "h100" of "h100x8", "8xh100" and "160x1792x8h100".
std::string_view WithoutCount(std::string_view word) {
  while (true) {
    std::size_t digits = 0;
    while (digits < word.size() && IsDigit(word[digits])) ++digits;
    const bool times = digits > 0 && digits < word.size() && word[digits] == 'x';
    if (digits > 0 && digits < word.size() && !times) word.remove_prefix(digits);
    if (!times) break;
    word.remove_prefix(digits + 1);
  }
  std::size_t end = word.size();
  while (end > 0 && IsDigit(word[end - 1])) --end;
  const bool times = end > 1 && end < word.size() && word[end - 1] == 'x';
  return times ? word.substr(0, end - 1) : word;
}

bool NamesVendor(std::string_view word) {
  static constexpr std::array<std::string_view, 10> kVendors = {
      "nvidia", "amd", "intel", "google", "aws", "habana", "tesla", "instinct", "gpu", "cloud"};
  return std::find(kVendors.begin(), kVendors.end(), word) != kVendors.end();
}

// Whether some consecutive words make up the text.
bool Joins(const std::vector<std::string>& words, std::string_view text) {
  for (std::size_t first = 0; first < words.size(); ++first) {
    std::string_view left = text;
    for (std::size_t w = first; w < words.size() && left.starts_with(words[w]); ++w) {
      left.remove_prefix(words[w].size());
      if (left.empty()) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words(1);
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (IsSmall(c) || IsDigit(c)) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool MatchesProduct(std::string_view model, std::string_view product) {
  std::vector<std::string> wanted = WordsOf(model);
  const std::vector<std::string> words = WordsOf(product);
  if (!std::all_of(wanted.begin(), wanted.end(), NamesVendor)) {
    std::erase_if(wanted, NamesVendor);
  }
  if (wanted.empty()) return false;
  const auto has = [&](const std::string& word) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& one) {
      return one == word || WithoutCount(one) == word;
    });
  };
  if (std::all_of(wanted.begin(), wanted.end(), has)) return true;
  std::string joined;
  for (const std::string& word : wanted) joined += word;
  return Joins(words, joined);
}

std::string_view ProductOfInstanceType(std::string_view type) {
  const std::vector<std::string> words = WordsOf(type);
  for (const InstanceTypes& row : kInstanceTypes) {
    std::string_view alternatives = row.words;
    while (!alternatives.empty()) {
      if (HoldsAll(words, TakePart(alternatives, '|'))) return row.product;
    }
  }
  return "";
}

}  // namespace weft::fabric
