#include "tests/world/cause.h"

namespace weft::world {

Cause WrongValue(const std::string& field, const std::string& value, const std::string& why) {
  return {"FieldValueInvalid", "Invalid value: " + value + (why.empty() ? "" : ": " + why), field};
}

Cause Required(const std::string& field, const std::string& why) {
  return {"FieldValueRequired", "Required value" + (why.empty() ? "" : ": " + why), field};
}

Cause NotAllowed(const std::string& field, const std::string& why) {
  return {"FieldValueForbidden", "Forbidden: " + why, field};
}

}  // namespace weft::world
