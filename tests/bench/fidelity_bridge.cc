// Rows of NVIDIA's Megatron-LM family: NeMo 24.12, Llama 3 and the releases of Megatron-Bridge.
#include <algorithm>
#include <cstdlib>

#include "operator/outlook/constants.h"
#include "tests/bench/fidelity_rows.h"
#include "tests/bench/fidelity_text.h"

namespace weft::fidelity {
namespace {

using outlook::Layout;
using traffic::Precision;
using traffic::Sharding;
using traffic::Transformer;

struct Known {
  const char* name;
  double billions;
  std::int64_t h, layers, heads, key_value_heads, f, vocabulary;
  bool gated = true;
  traffic::MixtureOfExperts moe = {};
  std::int64_t latent = 0;
};
// Published shapes; what does not say so has no experts.
const Known kModels[] = {
    {"LLAMA3_8B", 8.03, 4096, 32, 32, 8, 14336, 128256},
    {"LLAMA3_70B", 70.554, 8192, 80, 64, 8, 28672, 128256},
    {"LLAMA3.1_405B", 405.85, 16384, 126, 128, 8, 53248, 128256},
    {"LLAMA2_7B", 6.738, 4096, 32, 32, 32, 11008, 32000},
    {"LLAMA2_13B", 13.016, 5120, 40, 40, 40, 13824, 32000},
    {"LLAMA2_70B", 68.977, 8192, 80, 64, 8, 28672, 32000},
    {"GPT3_5B", 5.0, 4096, 24, 32, 32, 16384, 51200, false},
    {"GPT3_20B", 20.2, 6144, 44, 48, 48, 24576, 51200, false},
    {"GPT3_175B", 174.6, 12288, 96, 96, 96, 49152, 51200, false},
    {"NEMOTRON_8B", 8.5, 4096, 32, 32, 32, 16384, 256000, false},
    {"NEMOTRON_22B", 22.0, 6144, 40, 48, 48, 24576, 256000, false},
    {"NEMOTRON_340B", 341.0, 18432, 96, 96, 8, 73728, 256000, false},
    {"GPT OSS 120B", 116.8, 2880, 36, 64, 8, 0, 201088, true, {128, 4, 36, 2880, 0}},
    {"Qwen3_30B_a3B", 30.53, 2048, 48, 32, 4, 0, 151936, true, {128, 8, 48, 768, 0}},
    {"Qwen3_235B_a22B", 235.1, 4096, 94, 64, 4, 0, 151936, true, {128, 8, 94, 1536, 0}},
    {"DeepSeekV3", 671.0, 7168, 61, 128, 128, 18432, 129280, true, {256, 8, 58, 2048, 1}, 512},
    {"Kimi_K2", 1026.4, 7168, 61, 64, 64, 18432, 163840, true, {384, 8, 60, 2048, 1}, 512},
};

std::optional<Transformer> ModelOf(const std::string& name) {
  for (const Known& known : kModels) {
    if (name != known.name) continue;
    Transformer model;
    model.parameters = static_cast<std::int64_t>(known.billions * 1e9);
    model.hidden_size = known.h;
    model.layers = known.layers;
    model.attention_heads = known.heads;
    model.key_value_heads = known.key_value_heads;
    if (known.f > 0) model.feed_forward_size = known.f;
    model.gated_feed_forward = known.gated;
    model.vocabulary_size = known.vocabulary;
    model.gradient_precision = traffic::GradientPrecision::kBF16;
    if (known.moe.experts > 0) model.moe = known.moe;
    return model;
  }
  return std::nullopt;
}

std::optional<std::int64_t> LatentSizeOf(const std::string& name) {
  for (const Known& known : kModels) {
    if (name == known.name && known.latent > 0) return known.latent;
  }
  return std::nullopt;
}

Precision PrecisionOf(const std::string& name) {
  return name == "BF16" ? Precision::kBF16 : Precision::kFP8;
}

outlook::Machines MachinesOf(const std::string& system) {
  const double up = system == "H100" ? 450e9 : 900e9;
  const bool rack = system == "GB200" || system == "GB300";
  const double out = system == "B300" || system == "GB300" ? 100e9 : 50e9;
  return {rack ? 64.0 : 8.0, up * outlook::kScaleUpEfficiency, out * outlook::kNetworkEfficiency};
}

std::string CalibrationOf(const std::string& system, bool experts) {
  const std::string chip = system == "H100" ? "Hopper" : system;
  return chip + (experts ? ", experts" : " FP8, Megatron");
}

struct Line {
  const char* model;
  std::int64_t gpus, batch, micro, sequence, tensor, pipeline, context, virtual_pipeline;
  double rate;  // tokens/s of one GPU
};

Row RowOf(const Transformer& known, const Line& line) {
  Row row;
  Transformer model = known;
  model.sequence_length = line.sequence;
  model.global_batch_size = line.batch;
  model.micro_batch_size = line.micro;
  row.layout.model = model;
  row.layout.ranks = line.gpus;
  row.layout.parallelism.tensor = line.tensor;
  row.layout.parallelism.pipeline = line.pipeline;
  row.layout.parallelism.context = line.context;
  row.layout.parallelism.virtual_pipeline = line.virtual_pipeline;
  row.layout.parallelism.expert_tensor = 1;
  row.layout.parallelism.sharding = Sharding::kOptimizerState;
  row.seconds = static_cast<double>(line.batch * line.sequence) /
                (line.rate * static_cast<double>(line.gpus));
  const auto degree = [](const char* name, std::int64_t value) {
    return " " + std::string(name) + std::to_string(value);
  };
  row.label = std::string(line.model) + "," + degree("n", line.gpus) + degree("t", line.tensor) +
              degree("p", line.pipeline) + degree("c", line.context) +
              degree("v", line.virtual_pipeline) + degree("b", line.micro) +
              degree("B", line.batch);
  return row;
}

Table Bridge(const std::string& folder, bool experts) {
  Table table{
      experts ? "Megatron-Bridge, experts" : "Megatron-Bridge, dense", experts ? 0. : 10, {}};
  for (const auto& cells : ReadCsv(folder + "/megatron_bridge_perf.csv")) {
    if (cells.size() < 17) continue;
    const auto model = ModelOf(cells[2]);
    if (!model || model->moe.has_value() != experts) continue;
    const auto n = [&](std::size_t i) { return Whole(cells[i]); };
    Row row = RowOf(*model, {cells[2].c_str(), n(4), n(6), n(7), n(8), n(10), n(11), n(12), n(13),
                             std::atof(cells[15].c_str())});
    row.layout.model.precision = PrecisionOf(cells[5]);
    row.layout.parallelism.expert = n(14);
    row.layout.model.key_value_latent_size = LatentSizeOf(cells[2]);
    if (n(9) > 0) row.layout.parallelism.sharding = Sharding::kFull;
    row.label = cells[0] + " " + cells[1] + " " + row.label + " " + cells[5] + " e" + cells[14];
    row.accelerator = *outlook::FindAccelerator(cells[1]);
    row.machines = MachinesOf(cells[1]);
    row.calibration = CalibrationOf(cells[1], experts);
    row.family = cells[2] + " " + cells[0];
    table.rows.push_back(row);
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) table.rows[i].fitted = i % 2 == 0;
  return table;
}

}  // namespace

// NVIDIA NeMo 24.12, performance summary: H100, FP8.
Table NeMo() {
  const Line lines[] = {
      {"GPT3_5B", 64, 2048, 4, 2048, 1, 1, 1, 1, 23406},
      {"GPT3_20B", 64, 256, 2, 2048, 2, 1, 1, 1, 5851},
      {"GPT3_175B", 128, 256, 1, 2048, 4, 8, 1, 6, 716},
      {"GPT3_175B", 512, 2048, 2, 2048, 4, 8, 1, 6, 825},
      {"LLAMA2_7B", 8, 128, 1, 4096, 1, 1, 1, 1, 16934},
      {"LLAMA2_13B", 16, 128, 1, 4096, 1, 4, 1, 10, 8715},
      {"LLAMA2_70B", 64, 128, 1, 4096, 4, 4, 1, 20, 1728},
      {"NEMOTRON_8B", 64, 256, 4, 4096, 2, 1, 1, 1, 12507},
      {"NEMOTRON_22B", 64, 256, 2, 4096, 2, 4, 1, 10, 4312},
      {"NEMOTRON_340B", 128, 32, 1, 4096, 8, 8, 1, 12, 326},
      {"LLAMA3_8B", 8, 128, 1, 8192, 1, 1, 2, 1, 12273},
      {"LLAMA3_70B", 64, 128, 1, 8192, 4, 4, 2, 5, 1524},
  };
  Table table{"NeMo 24.12, H100 FP8", 10, {}};
  for (const Line& line : lines) {
    Row row = RowOf(*ModelOf(line.model), line);
    row.layout.model.precision = Precision::kFP8;
    row.accelerator = *outlook::FindAccelerator("H100");
    row.machines = MachinesOf("H100");
    row.calibration = CalibrationOf("H100", false);
    table.rows.push_back(row);
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) table.rows[i].fitted = i % 2 == 0;
  return table;
}

// Dubey et al., "The Llama 3 Herd of Models", 2024, table 4: 405B, BF16, H100, 16M tokens a step.
Table LlamaThree() {
  struct Known {
    std::int64_t gpus, context, sequence;
    double teraflops;
  };
  Table table{"Llama 3 405B, H100 BF16", 0, {}};
  for (const Known& known :
       {Known{8192, 1, 8192, 430}, Known{16384, 1, 8192, 400}, Known{16384, 16, 131072, 380}}) {
    const std::int64_t batch = 16 * 1024 * 1024 / known.sequence;
    Row row = RowOf(*ModelOf("LLAMA3.1_405B"),
                    {"405B", known.gpus, batch, 1, known.sequence, 8, 16, known.context, 4, 1});
    row.layout.model.gradient_precision = traffic::GradientPrecision::kFP32;
    row.layout.parallelism.sharding = Sharding::kOptimizerState;
    row.seconds = outlook::ModelFlops(row.layout) /
                  (static_cast<double>(known.gpus) * known.teraflops * 1e12);
    row.accelerator = *outlook::FindAccelerator("H100");
    row.machines = MachinesOf("H100");
    row.calibration = "Hopper BF16, Megatron";
    row.fitted = table.rows.empty();
    table.rows.push_back(row);
  }
  return table;
}

Table MegatronBridgeDense(const std::string& folder) { return Bridge(folder, false); }
Table MegatronBridgeExperts(const std::string& folder) { return Bridge(folder, true); }

}  // namespace weft::fidelity
