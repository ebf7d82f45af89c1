#include "operator/outlook/calibration.h"

#include <algorithm>
#include <array>

#include "operator/base/check.h"

namespace weft::outlook {
namespace {

// Rows whose chips differ only in the efficiency of matrix products; all else was fitted on Hopper.
constexpr Calibration MegatronFp8(std::string_view name, std::string_view fitted_on,
                                  std::string_view chips, double matrix_efficiency) {
  Calibration row;
  row.name = name;
  row.fitted_on = fitted_on;
  row.chips = chips;
  row.bits = 8;
  row.matrix_efficiency = matrix_efficiency;
  row.half_width = 50;
  row.attention_share = 0.929;
  row.memory_passes = 17.54;
  row.tensor_exposed = 0.46;
  row.error = 0.15;
  return row;
}

constexpr Calibration Experts(std::string_view name, std::string_view fitted_on,
                              std::string_view chips, double matrix_efficiency) {
  Calibration row;
  row.name = name;
  row.fitted_on = fitted_on;
  row.chips = chips;
  row.software = Software::kExperts;
  row.bits = 0;
  row.matrix_efficiency = matrix_efficiency;
  row.half_width = 209;
  row.attention_share = 0.7;
  row.memory_passes = 22.84;
  row.expert_launch_seconds = 1.238e-3;
  row.expert_share = 0.5;
  row.tensor_exposed = 0.46;
  row.expert_exposed = 0.75;
  row.error = 0.4;
  return row;
}

// In the order of the search; the last row matches every job.
constexpr auto kCalibrations = std::to_array<Calibration>({
    {.name = "A100 BF16, FSDP",
     .fitted_on = "every other A100 row of llm-foundry's FSDP table",
     .chips = "A100-40GB A100-80GB A100-80GB-PCIe",
     .software = Software::kSharded,
     .matrix_efficiency = 0.852,
     .half_width = 104.4,
     .attention_share = 0.3964,
     .memory_passes = 30.91,
     .overlap_exposed = 0.995,
     .error = 0.12},
    {.name = "Hopper BF16, FSDP",
     .fitted_on = "every other H100 BF16 row of llm-foundry's FSDP table",
     .chips = "H100 H200 GH200 H100-PCIe H100-NVL",
     .software = Software::kSharded,
     .matrix_efficiency = 0.7649,
     .half_width = 54.2,
     .attention_share = 0.248,
     .memory_passes = 43.42,
     .overlap_exposed = 0.941,
     .error = 0.08},
    {.name = "Hopper FP8, FSDP",
     .fitted_on = "every other H100 FP8 row of llm-foundry's FSDP table (4 rows, 2 constants)",
     .chips = "H100 H200 GH200 H100-PCIe H100-NVL",
     .software = Software::kSharded,
     .bits = 8,
     .matrix_efficiency = 0.6947,
     .half_width = 54.2,
     .attention_share = 0.2558,
     .memory_passes = 43.42,
     .overlap_exposed = 0.941,
     .error = 0.10},
    {.name = "A100 BF16, Megatron",
     .fitted_on = "assumed: as without flash attention, whose kernels reach 0.7 of the products'",
     .chips = "A100-40GB A100-80GB A100-80GB-PCIe",
     .matrix_efficiency = 0.7454,
     .half_width = 145.2,
     .attention_share = 0.7,
     .memory_passes = 4,
     .error = 0.15},
    {.name = "Hopper BF16, Megatron",
     .fitted_on = "one of three rows of Llama 3 405B (1 constant); the rest as with FP8",
     .chips = "H100 H200 GH200 H100-PCIe H100-NVL",
     .matrix_efficiency = 0.604,
     .half_width = 50,
     .attention_share = 0.929,
     .memory_passes = 17.54,
     .tensor_exposed = 0.46,
     .error = 0.15},
    MegatronFp8("Hopper FP8, Megatron",
                "every other row of NeMo 24.12 and of dense models of Megatron-Bridge",
                "H100 H200 GH200 H100-PCIe H100-NVL", 0.5),
    MegatronFp8("B200 FP8, Megatron",
                "every other B200 row of dense models of Megatron-Bridge (1 constant)", "B200 B300",
                0.5202),
    MegatronFp8("GB200 FP8, Megatron",
                "every other GB200 row of dense models of Megatron-Bridge (1 constant)", "GB200",
                0.5025),
    MegatronFp8("GB300 FP8, Megatron",
                "every other GB300 row of dense models of Megatron-Bridge (1 constant)", "GB300",
                0.5949),
    {.name = "Blackwell BF16, Megatron",
     .fitted_on = "assumed: products at 0.65 of the 16-bit peak, the rest as with FP8",
     .chips = "B200 B300 GB200 GB300",
     .matrix_efficiency = 0.65,
     .half_width = 50,
     .attention_share = 0.929,
     .memory_passes = 17.54,
     .tensor_exposed = 0.46,
     .error = 0.25},
    Experts("Hopper, experts", "every other H100 row of models with experts of Megatron-Bridge",
            "H100 H200 GH200 H100-PCIe H100-NVL", 0.6732),
    Experts("B200, experts", "every other B200 row of models with experts of Megatron-Bridge",
            "B200", 0.42),
    Experts("B300, experts", "every other B300 row of models with experts of Megatron-Bridge",
            "B300", 0.5003),
    Experts("GB200, experts", "every other GB200 row of models with experts of Megatron-Bridge",
            "GB200", 0.5392),
    Experts("GB300, experts", "every other GB300 row of models with experts of Megatron-Bridge",
            "GB300", 0.63),
    {.name = "A100 BF16, Megatron 2021",
     .fitted_on = "every other row of SC21 table 1 and of Korthikanti 2022 table 5",
     .chips = "",
     .software = Software::kEager,
     .matrix_efficiency = 0.7454,
     .half_width = 145.2,
     .memory_passes = 4,
     .attention = Attention::kStored,
     .sequence_parallel = false,
     .gradients_overlap = false,
     .error = 0.12},
    {.name = "A100 BF16, Megatron 2022",
     .fitted_on = "the same rows: sequence parallelism beside the same constants",
     .chips = "",
     .software = Software::kEager,
     .matrix_efficiency = 0.7454,
     .half_width = 145.2,
     .memory_passes = 4,
     .attention = Attention::kStored,
     .gradients_overlap = false,
     .error = 0.12},
    {.name = "A100 FP16, DeepSpeed",
     .fitted_on = "every other row of vTrain's measurements on one node",
     .chips = "",
     .software = Software::kEager,
     .matrix_efficiency = 0.6988,
     .half_width = 265.2,
     .unaligned_share = 0.4583,
     .memory_passes = 4,
     .launch_seconds = 950.7e-6,
     .tensor_start_seconds = 359.2e-6,
     .step_seconds = 1.399e-3,
     .attention = Attention::kStored,
     .sequence_parallel = false,
     .gradients_overlap = false,
     .error = 0.15},
    {.name = "Assumed",
     .fitted_on = "assumed: no measurement of this accelerator at this precision",
     .chips = "",
     .bits = 0,
     .matrix_efficiency = 0.5,
     .half_width = 100,
     .attention_share = 0.7,
     .memory_passes = 20,
     .tensor_exposed = 1,
     .error = 0.4},
});

int BitsOf(traffic::Precision precision) {
  switch (precision) {
    case traffic::Precision::kFP32:
    case traffic::Precision::kTF32:
      return 32;
    case traffic::Precision::kFP16:
    case traffic::Precision::kBF16:
      return 16;
    case traffic::Precision::kFP8:
    case traffic::Precision::kMXFP8:
      return 8;
    case traffic::Precision::kNVFP4:
      return 4;
  }
  return 16;
}

// Whether the name is one of the words, which are separated by spaces.
bool Names(std::string_view words, std::string_view name) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == name) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

const Calibration* Find(Software software, std::string_view chip, int bits) {
  for (const Calibration& one : kCalibrations) {
    if (one.software == software && (one.bits == 0 || one.bits == bits) && Names(one.chips, chip)) {
      return &one;
    }
  }
  return nullptr;
}

}  // namespace

std::span<const Calibration> KnownCalibrations() { return kCalibrations; }

const Calibration& FindCalibration(std::string_view name) {
  const auto found = std::find_if(kCalibrations.begin(), kCalibrations.end(),
                                  [&](const Calibration& one) { return one.name == name; });
  WEFT_CHECK(found != kCalibrations.end());
  return *found;
}

const Calibration& CalibrationFor(const Accelerator& accelerator, const Layout& layout) {
  using traffic::Sharding;
  const Sharding sharding = layout.parallelism.sharding;
  const bool sharded = sharding != Sharding::kNone && sharding != Sharding::kOptimizerState;
  const Software software = layout.model.moe ? Software::kExperts
                            : sharded        ? Software::kSharded
                                             : Software::kMegatron;
  const int bits = BitsOf(layout.model.precision);
  const std::string_view chip =
      accelerator.calibrated_as.empty() ? accelerator.name : accelerator.calibrated_as;
  for (const Software kind : {software, Software::kMegatron}) {
    const Calibration* one = Find(kind, chip, bits);
    if (one != nullptr) return *one;
  }
  return kCalibrations.back();
}

}  // namespace weft::outlook
