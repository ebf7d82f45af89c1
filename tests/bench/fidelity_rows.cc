#include "tests/bench/fidelity_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "operator/outlook/constants.h"
#include "tests/bench/fidelity_nodes.h"
#include "tests/bench/fidelity_text.h"

namespace weft::fidelity {
namespace {

using outlook::Layout;
using traffic::Precision;
using traffic::Recomputation;
using traffic::Sharding;
using traffic::Transformer;

outlook::Accelerator Chip(const std::string& name) { return *outlook::FindAccelerator(name); }

// Of nodes of eight, or an NVL72 rack, with one NIC a GPU: nominal GB/s of both.
outlook::Machines MachinesOf(double accelerators, double up, double out) {
  return {accelerators, up * 1e9 * outlook::kScaleUpEfficiency,
          out * 1e9 * outlook::kNetworkEfficiency};
}
outlook::Machines A100Machines() { return MachinesOf(8, 300, 25); }
outlook::Machines H100Machines() { return MachinesOf(8, 450, 50); }

// A GPT of Megatron-LM: f = 4 h, learned positions, tied embeddings.
Transformer Gpt(std::int64_t h, std::int64_t layers, std::int64_t heads, std::int64_t s,
                std::int64_t vocabulary) {
  Transformer model;
  model.layers = layers;
  model.hidden_size = h;
  model.attention_heads = heads;
  model.feed_forward_size = 4 * h;
  model.gated_feed_forward = false;
  model.vocabulary_size = vocabulary;
  model.sequence_length = s;
  model.parameters = layers * (12 * h * h + 13 * h) + (vocabulary + s) * h;
  model.gradient_precision = traffic::GradientPrecision::kBF16;
  return model;
}

struct Shape {
  std::int64_t gpus, batch, micro, tensor = 1, pipeline = 1, virtual_pipeline = 1, context = 1;
};

Layout LayoutOf(Transformer model, const Shape& shape) {
  Layout layout;
  model.global_batch_size = shape.batch;
  model.micro_batch_size = shape.micro;
  layout.model = model;
  layout.ranks = shape.gpus;
  layout.parallelism.tensor = shape.tensor;
  layout.parallelism.pipeline = shape.pipeline;
  layout.parallelism.virtual_pipeline = shape.virtual_pipeline;
  layout.parallelism.context = shape.context;
  return layout;
}

void FitEveryOther(std::vector<Row>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].fitted = i % 2 == 0;
}

}  // namespace

// Narayanan et al., SC21, table 1. Micro-batch sizes and virtual stages are not in it: assumed.
Table Sc21() {
  struct Line {
    double billions, teraflops;
    std::int64_t heads, h, layers;
    Shape shape;
  };
  const Line lines[] = {
      {1.7, 137, 24, 2304, 24, {32, 512, 16, 1, 1}},
      {3.6, 138, 32, 3072, 30, {64, 512, 16, 2, 1}},
      {7.5, 142, 32, 4096, 36, {128, 512, 16, 4, 1}},
      {18.4, 135, 48, 6144, 40, {256, 1024, 8, 8, 1}},
      {39.1, 138, 64, 8192, 48, {512, 1536, 4, 8, 2}},
      {76.1, 140, 80, 10240, 60, {1024, 1792, 2, 8, 4}},
      {145.6, 148, 96, 12288, 80, {1536, 2304, 1, 8, 8, 2}},
      {310.1, 155, 128, 16384, 96, {1920, 2160, 1, 8, 16, 2}},
      {529.6, 163, 128, 20480, 105, {2520, 2520, 1, 8, 35, 1}},
      {1008, 163, 160, 25600, 128, {3072, 3072, 1, 8, 64, 1}},
  };
  Table table{"SC21 table 1", 5, {}};
  for (const Line& line : lines) {
    Row row;
    row.label = std::to_string(std::lround(line.billions)) + "B";
    Transformer model = Gpt(line.h, line.layers, line.heads, 2048, 51200);
    model.recomputation = Recomputation::kFull;
    row.layout = LayoutOf(model, line.shape);
    const double h = static_cast<double>(line.h), layers = static_cast<double>(line.layers);
    const double flops = 96.0 * static_cast<double>(line.shape.batch) * 2048 * layers * h * h *
                         (1 + 2048 / (6 * h) + 51200 / (16 * layers * h));
    row.seconds = flops / (static_cast<double>(line.shape.gpus) * line.teraflops * 1e12);
    row.accelerator = Chip("A100-80GB");
    row.machines = A100Machines();
    row.calibration = "A100 BF16, Megatron 2021";
    table.rows.push_back(row);
  }
  FitEveryOther(table.rows);
  return table;
}

// Korthikanti et al. 2022, table 5: full recomputation, and sequence parallelism with selective.
Table Korthikanti() {
  struct Line {
    const char* name;
    std::int64_t heads, h, layers;
    Shape shape;
    double full, selective;
  };
  const Line lines[] = {
      {"22B", 64, 6144, 48, {8, 4, 4, 8, 1}, 1.42, 1.10},
      {"175B", 96, 12288, 96, {64, 64, 1, 8, 8, 3}, 18.13, 13.75},
      {"530B", 128, 20480, 105, {280, 280, 1, 8, 35, 3}, 49.05, 37.83},
      {"1T", 160, 25600, 128, {512, 512, 1, 8, 64}, 94.42, 71.49},
  };
  Table table{"Korthikanti 2022 table 5", 5, {}};
  for (const bool full : {true, false}) {
    for (const Line& line : lines) {
      Row row;
      row.label = std::string(line.name) + (full ? " full" : " selective");
      Transformer model = Gpt(line.h, line.layers, line.heads, 2048, 51200);
      model.recomputation = full ? Recomputation::kFull : Recomputation::kSelective;
      row.layout = LayoutOf(model, line.shape);
      row.seconds = full ? line.full : line.selective;
      row.accelerator = Chip("A100-80GB");
      row.machines = A100Machines();
      row.calibration = full ? "A100 BF16, Megatron 2021" : "A100 BF16, Megatron 2022";
      table.rows.push_back(row);
    }
  }
  FitEveryOther(table.rows);
  return table;
}

// Jiang et al., MegaScale, NSDI 2024, table 2: the column of Megatron-LM, 175B on A100.
Table MegaScale() {
  const std::pair<Shape, double> lines[] = {
      {{256, 768, 1, 8, 8, 6}, 40.0},    {{512, 768, 1, 8, 8, 6}, 21.2},
      {{768, 768, 1, 8, 8, 6}, 15.2},    {{1024, 768, 1, 8, 8, 6}, 11.9},
      {{3072, 6144, 1, 8, 8, 6}, 29.02}, {{6144, 6144, 1, 8, 8, 6}, 14.78},
      {{8192, 6144, 1, 8, 8, 6}, 12.24}, {{12288, 6144, 1, 8, 8, 6}, 8.57}};
  Table table{"MegaScale table 2, Megatron-LM", 0, {}};
  for (const auto& [shape, seconds] : lines) {
    Row row;
    row.label = std::to_string(shape.gpus) + " GPUs";
    Transformer model = Gpt(12288, 96, 128, 2048, 64000);
    model.recomputation = Recomputation::kSelective;
    row.layout = LayoutOf(model, shape);
    row.seconds = seconds;
    row.accelerator = Chip("A100-80GB");
    row.machines = A100Machines();
    row.calibration = "A100 BF16, Megatron 2022";
    table.rows.push_back(row);
  }
  return table;
}

// One node of A100, published by VIA-Research/vTrain. Its model divides a vocabulary of 50257 by
// the tensor degree and does not pad it. Activations count as not recomputed: with a fourth pass,
// matrix products would need 95 % of the peak.
Table VTrain(const std::string& folder) {
  Table table{"vTrain, one A100 node", 8.5, {}};
  for (const auto& cells : ReadCsv(folder + "/vtrain_ground_truth_single.csv")) {
    if (cells.size() < 11) continue;
    std::vector<std::int64_t> n;
    for (std::size_t i = 0; i < 10; ++i) n.push_back(Whole(cells[i]));
    Row row;
    row.label = cells[0] + " GPUs, h " + cells[3] + ", L " + cells[5] + ", t " + cells[7] + " p " +
                cells[9] + ", b " + cells[2] + ", B " + cells[1];
    row.layout = LayoutOf(Gpt(n[3], n[5], n[4], n[6], 50257), {n[0], n[1], n[2], n[7], n[9]});
    row.layout.model.recomputation = Recomputation::kNone;
    row.seconds = std::atof(cells[10].c_str()) / 1e3;
    row.accelerator = Chip("A100-80GB");
    row.machines = A100Machines();
    row.calibration = "A100 FP16, DeepSpeed";
    table.rows.push_back(row);
  }
  FitEveryOther(table.rows);
  return table;
}

// Measured on 8 to 64 nodes of A100. Megatron-DeepSpeed recomputes activations, and neither splits
// the sequence nor overlaps gradients.
Table VTrainNodes() {
  Table table{"vTrain, 8 to 64 A100 nodes", 0, {}};
  for (const NodesModel& model : NodesModels()) {
    for (const NodesStep& step : model.steps) {
      Row row;
      row.label = std::string(model.name) + ", t " + std::to_string(step.tensor) + " d " +
                  std::to_string(step.data) + " p " + std::to_string(step.pipeline) + ", b " +
                  std::to_string(step.micro);
      Transformer gpt = Gpt(model.hidden, model.layers, model.heads, 2048, 50257);
      gpt.recomputation = Recomputation::kFull;
      row.layout = LayoutOf(gpt, {model.gpus, model.batch, step.micro, step.tensor, step.pipeline});
      row.seconds = step.seconds;
      row.accelerator = Chip("A100-80GB");
      row.machines = MachinesOf(8, 300, 12.5);
      row.calibration = "A100 BF16, Megatron 2021";
      table.rows.push_back(row);
    }
  }
  return table;
}

namespace {

// MosaicML's MPT models by name: hidden size, layers, heads.
struct Mpt {
  const char* name;
  std::int64_t h, layers, heads;
};
constexpr Mpt kMpt[] = {{"125m", 768, 12, 12}, {"350m", 1024, 24, 16}, {"760m", 1536, 24, 12},
                        {"1b", 2048, 24, 16},  {"3b", 2560, 32, 20},   {"7b", 4096, 32, 32},
                        {"13b", 5120, 40, 40}, {"30b", 7168, 48, 56},  {"70b", 8192, 80, 64}};

}  // namespace

Table LlmFoundry(const std::string& folder) {
  Table table{"llm-foundry FSDP", 6, {}};
  for (const auto& cells : ReadCsv(folder + "/llmfoundry_fsdp_bench.csv")) {
    if (cells.size() < 21) continue;
    const auto mpt = std::find_if(std::begin(kMpt), std::end(kMpt),
                                  [&](const Mpt& one) { return cells[1] == one.name; });
    const std::int64_t s = Whole(cells[2]), gpus = Whole(cells[3]);
    const bool fp8 = cells[15] == "amp_fp8", h100 = cells[4] == "h100_80gb";
    Row row;
    row.label = cells[4] + " " + cells[1] + ", " + cells[3] + " GPUs, s " + cells[2] + ", b " +
                cells[8] + (cells[18] == "True" ? ", full" : "");
    Transformer model = Gpt(mpt->h, mpt->layers, mpt->heads, s, 50368);
    model.parameters = Whole(cells[20]);
    model.precision = fp8 ? Precision::kFP8 : Precision::kBF16;
    if (cells[16] == "DEFAULT") model.gradient_precision = traffic::GradientPrecision::kFP32;
    if (cells[18] == "True") model.recomputation = Recomputation::kFull;
    row.layout = LayoutOf(model, {gpus, Whole(cells[10]), Whole(cells[8])});
    row.layout.parallelism.sharding =
        cells[17] == "FULL_SHARD" ? Sharding::kFull : Sharding::kGradients;
    row.seconds =
        std::atof(cells[14].c_str()) / (std::atof(cells[13].c_str()) * static_cast<double>(gpus));
    row.accelerator = Chip(h100 ? "H100" : cells[4] == "a100_40gb" ? "A100-40GB" : "A100-80GB");
    row.machines = h100 ? H100Machines() : A100Machines();
    row.calibration = !h100 ? "A100 BF16, FSDP" : fp8 ? "Hopper FP8, FSDP" : "Hopper BF16, FSDP";
    table.rows.push_back(row);
  }
  FitEveryOther(table.rows);
  return table;
}

}  // namespace weft::fidelity
