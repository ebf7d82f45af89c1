#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/outlook/layout.h"

namespace weft::outlook {

// A setting with which training software does not start, or that contradicts other settings.
struct InvalidSetting {
  std::string_view field;  // "spec.parallelism.tensor"
  std::string message;     // "8 does not divide attentionHeads 60; Megatron-LM refuses it"

  std::string Text() const { return std::string(field) + ": " + message; }
  friend bool operator==(const InvalidSetting&, const InvalidSetting&) = default;
};

// The rules of training software for a layout that a placement does not need: whoever proposes
// layouts keeps them (layouts.h, change.h, bubble.h), and whoever is given one says which it
// breaks. traffic::CheckShape has the rules that a placement needs too.
//
//   tensor           divides attentionHeads, keyValueHeads, hiddenSize, feedForwardSize, and a
//                    rank's tokens of a sequence (sequence parallelism)
//   context          twice the degree divides sequenceLength
//   pipeline         each stage but the first and the last has the same number of layers; those two
//                    have as many or fewer, and at least one
//   virtualPipeline  with a pipeline; pipeline x virtualPipeline divides the layers, or the layers
//                    with the embedding and the output counted as one each; pipeline divides the
//                    micro-batches
//   expert           divides moe.experts; expertTensor divides moe.feedForwardSize
//   sharding         with a pipeline at most OptimizerState
//   the model        attentionHeads divides hiddenSize, keyValueHeads divides attentionHeads,
//                    moe.topK is at most moe.experts, and moe.layers at most layers
//
// Source  Megatron-LM, transformer_config.py and arguments.py, core 0.14, 2025; DeepSpeed,
//         runtime/pipe/engine.py, 2024 ("ZeRO-2 and ZeRO-3 are incompatible with pipeline
//         parallelism").
std::vector<InvalidSetting> InvalidSettings(const Layout& layout);

// The rules that the layout breaks, one bit for each. Cost: some tens of nanoseconds.
using Rules = std::uint32_t;
Rules BrokenRules(const Layout& layout);
// Those that every layout of the model breaks.
Rules BrokenByModel(const traffic::Transformer& model);

// Says if `parameters` is less than half or more than twice what the model's other sizes make.
// Without moe.feedForwardSize, a mixture of experts may have any number above.
std::optional<InvalidSetting> UnlikelyParameters(const traffic::Transformer& model);

// Both, as sentences.
std::vector<std::string> LayoutNotes(const Layout& layout);

}  // namespace weft::outlook
