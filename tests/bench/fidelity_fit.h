#pragma once

#include <string>
#include <vector>

#include "operator/outlook/calibration.h"
#include "tests/bench/fidelity_rows.h"

namespace weft::fidelity {

// A constant of a calibration that is fitted, and between which bounds it can be true.
struct Constant {
  const char* name;
  double outlook::Calibration::*member;
  double least, most;
};

// Calibrations that are fitted together: some constants are the same in all of them, some each has
// of its own. `common` rows share all constants and differ in flags alone.
struct Fitting {
  std::vector<std::string> calibrations;
  std::vector<Constant> shared, own;
};
std::vector<Fitting> Fittings();

// Seconds of one step by the model, with the constants of `calibration`.
double Predict(const Row& row, const outlook::Calibration& calibration);

// Mean absolute error, as a share, of each row by its own calibration.
using Rows = std::vector<const Row*>;
double MeanError(const Rows& rows, const std::vector<outlook::Calibration>& calibrations);

// Constants that make the mean absolute error on `rows` least, by a search along each in turn that
// begins at `start` and at multiples of its matrix efficiency and width.
std::vector<outlook::Calibration> Fit(const Fitting& fitting, const Rows& rows,
                                      const std::vector<outlook::Calibration>& start);

}  // namespace weft::fidelity
