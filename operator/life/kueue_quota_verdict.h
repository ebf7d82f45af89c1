#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "operator/api/kueue.h"

namespace weft::life {

// What Kueue says of a Workload, in the words of the condition Placed of a TrainingJob.
struct QueueVerdict {
  bool plan = false;        // nodes may be chosen
  bool start = false;       // and pods may run
  std::string_view reason;  // of plan/conditions.h, or Admitted
  std::string message;
};

// `is_ours`: whether Weft answers the AdmissionCheck of that name.
QueueVerdict JudgeWorkload(const api::Workload& workload,
                           const std::function<bool(const std::string& check)>& is_ours);

}  // namespace weft::life
