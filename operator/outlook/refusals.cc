#include "operator/outlook/refusals.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "operator/outlook/real.h"

namespace weft::outlook {
namespace {

using traffic::Sharding;

constexpr const char* kMegatron = "; Megatron-LM refuses it";

std::string Show(std::int64_t value) { return std::to_string(value); }

// `part` must divide `whole`.
struct Division {
  std::int64_t part = 1, whole = 0;
  const char* of = "";              // name of the whole
  const char* part_name = nullptr;  // if the part is not the field's own value
};

struct DivisionRule {
  const char* field;
  Division (*of)(const Layout& layout);
};

constexpr const char* kTensor = "spec.parallelism.tensor";
constexpr const char* kVirtual = "spec.parallelism.virtualPipeline";

std::int64_t MicroBatches(const Layout& layout) {
  const traffic::Parallelism& p = layout.parallelism;
  const std::int64_t together = std::max<std::int64_t>(p.tensor * p.context * p.pipeline, 1);
  const std::int64_t data = layout.ranks / together;
  return layout.model.global_batch_size /
         std::max<std::int64_t>(layout.model.micro_batch_size * data, 1);
}

// The layers, or the layers with the embedding and the output counted as one each, if the chunks of
// an interleaved schedule divide that.
Division ChunksOf(const Layout& layout) {
  const traffic::Parallelism& p = layout.parallelism;
  Division out{p.pipeline * p.virtual_pipeline, layout.model.layers, "layers",
               "pipeline x virtualPipeline"};
  if (p.virtual_pipeline == 1) return {};
  for (const std::int64_t more : {1, 2}) {
    if ((layout.model.layers + more) % out.part == 0) return {};
  }
  return out;
}

constexpr auto kDivisions = std::to_array<DivisionRule>({
    {kTensor,
     [](const Layout& l) {
       return Division{l.parallelism.tensor, l.model.attention_heads, "attentionHeads"};
     }},
    {kTensor,
     [](const Layout& l) {
       return Division{l.parallelism.tensor, l.model.key_value_heads, "keyValueHeads"};
     }},
    {kTensor,
     [](const Layout& l) {
       return Division{l.parallelism.tensor, l.model.hidden_size, "hiddenSize"};
     }},
    {kTensor,
     [](const Layout& l) {
       return Division{l.parallelism.tensor, l.model.feed_forward_size.value_or(0),
                       "feedForwardSize"};
     }},
    {kTensor,
     [](const Layout& l) {
       return Division{l.parallelism.tensor, l.model.sequence_length / l.parallelism.context,
                       "sequenceLength / context"};
     }},
    {"spec.parallelism.context",
     [](const Layout& l) {
       if (l.parallelism.context == 1) return Division{};
       return Division{2 * l.parallelism.context, l.model.sequence_length, "sequenceLength",
                       "2 x context"};
     }},
    {kVirtual, ChunksOf},
    {kVirtual,
     [](const Layout& l) {
       if (l.parallelism.virtual_pipeline == 1) return Division{};
       return Division{l.parallelism.pipeline, MicroBatches(l),
                       "the number of micro-batches in a step,", "pipeline"};
     }},
    {"spec.parallelism.expert",
     [](const Layout& l) {
       return Division{l.parallelism.expert, l.model.moe ? l.model.moe->experts : 0, "moe.experts"};
     }},
    {"spec.parallelism.expertTensor",
     [](const Layout& l) {
       const std::int64_t split = l.parallelism.expert_tensor;
       const auto& moe = l.model.moe;
       return Division{split == 0 ? l.parallelism.tensor : split,
                       moe ? moe->feed_forward_size.value_or(0) : 0, "moe.feedForwardSize"};
     }},
    {"spec.model.transformer.attentionHeads",
     [](const Layout& l) {
       if (l.model.key_value_latent_size) return Division{};  // its heads have a size of their own
       return Division{l.model.attention_heads, l.model.hidden_size, "hiddenSize"};
     }},
    {"spec.model.transformer.keyValueHeads",
     [](const Layout& l) {
       return Division{std::max<std::int64_t>(l.model.key_value_heads, 1), l.model.attention_heads,
                       "attentionHeads"};
     }},
});

struct OtherRule {
  const char* field;
  bool (*broken)(const Layout& layout);
  std::string (*message)(const Layout& layout);
};

// The first and the last stage may have fewer layers than the others.
bool UnevenStages(const Layout& layout) {
  const std::int64_t stages = layout.parallelism.pipeline, layers = layout.model.layers;
  if (stages == 1 || layers % stages == 0) return false;
  const std::int64_t each = (layers + stages - 1) / stages;
  return layers < each * (stages - 2) + 2;
}

constexpr auto kOthers = std::to_array<OtherRule>({
    {"spec.parallelism.pipeline", UnevenStages,
     [](const Layout& l) {
       return Show(l.parallelism.pipeline) + " does not divide layers " + Show(l.model.layers) +
              ", not even with fewer layers in the first and the last stage" + kMegatron;
     }},
    {kVirtual,
     [](const Layout& l) {
       return l.parallelism.virtual_pipeline > 1 && l.parallelism.pipeline == 1;
     },
     [](const Layout& l) {
       return Show(l.parallelism.virtual_pipeline) +
              " needs more than one pipeline stage, and pipeline is 1" + kMegatron;
     }},
    {"spec.parallelism.sharding",
     [](const Layout& l) {
       return l.parallelism.pipeline > 1 && l.parallelism.sharding > Sharding::kOptimizerState;
     },
     [](const Layout& l) {
       const bool weights = l.parallelism.sharding != Sharding::kGradients;
       return std::string(weights ? "weights" : "gradients") + " are sharded across " +
              Show(l.parallelism.pipeline) + " pipeline stages; " +
              (weights ? "Megatron-LM (FSDP2) and DeepSpeed (ZeRO-3) refuse it"
                       : "DeepSpeed (ZeRO-2) refuses it");
     }},
    {"spec.model.transformer.moe.topK",
     [](const Layout& l) { return l.model.moe && l.model.moe->top_k > l.model.moe->experts; },
     [](const Layout& l) {
       return Show(l.model.moe->top_k) + " is more than moe.experts " + Show(l.model.moe->experts) +
              kMegatron;
     }},
    {"spec.model.transformer.moe.layers",
     [](const Layout& l) { return l.model.moe && l.model.moe->layers > l.model.layers; },
     [](const Layout& l) {
       return Show(l.model.moe->layers) + " is more than layers " + Show(l.model.layers) +
              kMegatron;
     }},
});

bool Broken(const Division& division) {
  return division.part > 0 && division.whole % division.part != 0;
}

std::string MessageOf(const Division& division) {
  std::string text = division.part_name == nullptr ? "" : std::string(division.part_name) + " = ";
  text += Show(division.part) + " does not divide " + division.of + " " + Show(division.whole);
  return text + kMegatron;
}

// "68.98 billion".
std::string Many(double count) {
  constexpr double kMillion = 1e6, kBillion = 1e9;
  std::array<char, 48> text{};
  const bool billions = count >= kBillion;
  std::snprintf(text.data(), text.size(), "%.3g %s", count / (billions ? kBillion : kMillion),
                billions ? "billion" : "million");
  return text.data();
}

}  // namespace

std::vector<InvalidSetting> InvalidSettings(const Layout& layout) {
  std::vector<InvalidSetting> invalid;
  for (const OtherRule& rule : kOthers) {
    if (rule.broken(layout)) invalid.push_back({rule.field, rule.message(layout)});
  }
  for (const DivisionRule& rule : kDivisions) {
    const Division division = rule.of(layout);
    if (Broken(division)) invalid.push_back({rule.field, MessageOf(division)});
  }
  return invalid;
}

Rules BrokenRules(const Layout& layout) {
  static_assert(kOthers.size() + kDivisions.size() <= 32);
  Rules broken = 0;
  Rules bit = 1;
  for (const OtherRule& rule : kOthers) {
    if (rule.broken(layout)) broken |= bit;
    bit <<= 1;
  }
  for (const DivisionRule& rule : kDivisions) {
    if (Broken(rule.of(layout))) broken |= bit;
    bit <<= 1;
  }
  return broken;
}

Rules BrokenByModel(const traffic::Transformer& model) {
  Layout alone;
  alone.model = model;
  return BrokenRules(alone);
}

std::optional<InvalidSetting> UnlikelyParameters(const traffic::Transformer& model) {
  constexpr double kFactor = 2;
  const Expected by_sizes = ExpectedParameters(model);
  const double given = Real(model.parameters);
  const bool few = given * kFactor < by_sizes.least;
  const bool many = by_sizes.most && given > kFactor * *by_sizes.most;
  if (!few && !many) return std::nullopt;
  const double expected = few ? by_sizes.least : *by_sizes.most;
  return InvalidSetting{"spec.model.transformer.parameters",
                        Show(model.parameters) + ", but layers " + Show(model.layers) +
                            ", hiddenSize " + Show(model.hidden_size) +
                            " and the other sizes make about " + Many(expected)};
}

std::vector<std::string> LayoutNotes(const Layout& layout) {
  std::vector<std::string> notes;
  for (const InvalidSetting& one : InvalidSettings(layout)) notes.push_back(one.Text());
  if (const auto doubt = UnlikelyParameters(layout.model)) notes.push_back(doubt->Text());
  return notes;
}

}  // namespace weft::outlook
