#pragma once

#include <string>
#include <vector>

namespace weft::world {

// One wrong field, as in the causes of a Status.
struct Cause {
  std::string reason;  // "FieldValueInvalid"
  std::string message;
  std::string field;  // "spec.workers"
};
using Causes = std::vector<Cause>;

Cause WrongValue(const std::string& field, const std::string& value, const std::string& why);
Cause Required(const std::string& field, const std::string& why = "");
Cause NotAllowed(const std::string& field, const std::string& why);

}  // namespace weft::world
