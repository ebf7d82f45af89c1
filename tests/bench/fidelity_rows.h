#pragma once

#include <string>
#include <vector>

#include "operator/outlook/accelerators.h"
#include "operator/outlook/calibration.h"
#include "operator/outlook/layout.h"
#include "operator/outlook/machines.h"

namespace weft::fidelity {

// One measured step.
struct Row {
  std::string label;  // "175B, 64 GPUs"
  outlook::Layout layout;
  outlook::Accelerator accelerator;
  outlook::Machines machines;
  std::string calibration;  // the row of the table that predicts it
  double seconds = 0;       // measured
  std::string family;       // model and release, for the order of layouts
  bool fitted = false;      // the calibration was fitted on it
};

struct Table {
  std::string name;
  double goal_percent = 0;  // mean absolute error on rows that were not fitted; 0: none set
  std::vector<Row> rows;
};

// Small tables that stand in papers, and the CSV files of `folder` (../shared/data/published).
Table Sc21();
Table Korthikanti();
Table MegaScale();
Table NeMo();
Table LlamaThree();
Table VTrainNodes();
Table VTrain(const std::string& folder);
Table LlmFoundry(const std::string& folder);
Table MegatronBridgeDense(const std::string& folder);
Table MegatronBridgeExperts(const std::string& folder);

}  // namespace weft::fidelity
