#include "tests/bench/fidelity_fit.h"

#include <algorithm>
#include <cmath>

#include "operator/outlook/step.h"

namespace weft::fidelity {
namespace {

using outlook::Calibration;

constexpr Constant kMatrix = {"matrix_efficiency", &Calibration::matrix_efficiency, 0.2, 0.9};
constexpr Constant kWidth = {"half_width", &Calibration::half_width, 50, 500};
constexpr Constant kAttention = {"attention_share", &Calibration::attention_share, 0.2, 1};
constexpr Constant kUnaligned = {"unaligned_share", &Calibration::unaligned_share, 0.1, 1};
constexpr Constant kPasses = {"memory_passes", &Calibration::memory_passes, 4, 60};
constexpr Constant kLaunch = {"launch_seconds", &Calibration::launch_seconds, 2e-5, 2e-3};
constexpr Constant kTensorStart = {"tensor_start_seconds", &Calibration::tensor_start_seconds, 1e-5,
                                   1e-3};
constexpr Constant kStep = {"step_seconds", &Calibration::step_seconds, 1e-4, 2e-2};
constexpr Constant kExpertLaunch = {"expert_launch_seconds", &Calibration::expert_launch_seconds,
                                    1e-5, 5e-3};
constexpr Constant kExpertShare = {"expert_share", &Calibration::expert_share, 0.2, 1};
constexpr Constant kTensorShown = {"tensor_exposed", &Calibration::tensor_exposed, 0.05, 1};
constexpr Constant kOverlap = {"overlap_exposed", &Calibration::overlap_exposed, 0.05, 1};

using Set = std::vector<Calibration>;

// Tries factor and 1/factor on one constant of calibrations [first, last).
bool Improve(const Rows& rows, Set& set, double& best, const Constant& constant,
             std::pair<std::size_t, std::size_t> range, double factor) {
  bool better = false;
  for (const double by : {factor, 1 / factor}) {
    Set tried = set;
    for (std::size_t i = range.first; i < range.second; ++i) {
      double& value = tried[i].*constant.member;
      value = std::clamp(value * by, constant.least, constant.most);
    }
    const double error = MeanError(rows, tried);
    if (error >= best - 1e-9) continue;
    best = error;
    set = tried;
    better = true;
  }
  return better;
}

Set Descend(const Fitting& fitting, const Rows& rows, Set set) {
  constexpr int kMostRounds = 60;
  double best = MeanError(rows, set);
  for (const double factor : {1.5, 1.2, 1.1, 1.05, 1.02, 1.01, 1.005}) {
    bool better = true;
    for (int round = 0; better && round < kMostRounds; ++round) {
      better = false;
      for (const Constant& one : fitting.shared) {
        better |= Improve(rows, set, best, one, {0, set.size()}, factor);
      }
      for (const Constant& one : fitting.own) {
        for (std::size_t i = 0; i < set.size(); ++i) {
          better |= Improve(rows, set, best, one, {i, i + 1}, factor);
        }
      }
    }
  }
  return set;
}

}  // namespace

std::vector<Fitting> Fittings() {
  return {
      {{"A100 BF16, FSDP"}, {kMatrix, kWidth, kAttention, kPasses, kOverlap}, {}},
      {{"Hopper BF16, FSDP"}, {kMatrix, kWidth, kAttention, kPasses, kOverlap}, {}},
      {{"Hopper FP8, FSDP"}, {kMatrix, kAttention}, {}},
      {{"A100 BF16, Megatron 2021", "A100 BF16, Megatron 2022"}, {kMatrix, kWidth, kPasses}, {}},
      {{"A100 FP16, DeepSpeed"}, {kMatrix, kWidth, kUnaligned, kLaunch, kTensorStart, kStep}, {}},
      {{"Hopper FP8, Megatron", "B200 FP8, Megatron", "GB200 FP8, Megatron", "GB300 FP8, Megatron"},
       {kWidth, kPasses, kTensorShown, kAttention},
       {kMatrix}},
      {{"Hopper BF16, Megatron"}, {kMatrix}, {}},
      {{"Hopper, experts", "B200, experts", "B300, experts", "GB200, experts", "GB300, experts"},
       {kWidth, kPasses, kExpertShare, kExpertLaunch},
       {kMatrix}},
  };
}

double Predict(const Row& row, const Calibration& calibration) {
  const outlook::Network network = outlook::NetworkOn(row.machines, row.layout);
  return outlook::StepOf(row.layout, row.accelerator, calibration, network).Seconds();
}

double MeanError(const Rows& rows, const std::vector<Calibration>& calibrations) {
  double sum = 0;
  for (const Row* row : rows) {
    for (const Calibration& one : calibrations) {
      if (one.name == row->calibration) sum += std::abs(Predict(*row, one) / row->seconds - 1);
    }
  }
  return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
}

std::vector<Calibration> Fit(const Fitting& fitting, const Rows& rows,
                             const std::vector<Calibration>& start) {
  Set best = Descend(fitting, rows, start);
  for (const double matrix : {0.8, 1.25}) {
    for (const double passes : {0.3, 3.0}) {
      Set from = start;
      for (Calibration& one : from) {
        one.matrix_efficiency *= matrix;
        if (fitting.shared.size() > 1) one.memory_passes *= passes;
      }
      const Set found = Descend(fitting, rows, from);
      if (MeanError(rows, found) < MeanError(rows, best)) best = found;
    }
  }
  return best;
}

}  // namespace weft::fidelity
