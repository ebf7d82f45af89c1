#pragma once

#include <string>
#include <string_view>

#include "operator/api/meta.h"

namespace weft::controllers {

// One event about one object.
struct Happening {
  std::string_view kind;  // "TrainingJob", "Placement", "Fabric"
  const api::ObjectMeta* about = nullptr;
  bool warning = false;
  std::string_view reason, action;
  std::string note;
};

// Writes events, when it can: aggregated, rate-limited, never in the caller's way.
// Thread-safety  all calls may run at once.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void Record(const Happening& happening) = 0;
};

}  // namespace weft::controllers
