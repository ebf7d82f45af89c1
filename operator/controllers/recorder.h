#pragma once

#include <string>
#include <string_view>

#include "operator/api/meta.h"

namespace weft::controllers {

// An event about one object.
struct Happening {
  std::string_view kind;  // "TrainingJob", "Placement", "Fabric", or another controller's
  const api::ObjectMeta* about = nullptr;
  bool warning = false;
  std::string_view reason, action;
  std::string note;
  std::string_view api_version = "";  // of the object; "": Weft's
};

// Writes events as far as it can: aggregated, rate-limited, without making the caller wait.
// Thread-safety  all calls may run at once.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void Record(const Happening& happening) = 0;
};

}  // namespace weft::controllers
