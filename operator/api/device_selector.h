#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weft::api {

// A value of an attribute; monostate: of a kind that selectors are not read for (version, list).
using DeviceValue = std::variant<std::monostate, std::string, bool, std::int64_t>;

// What a selector can ask of one device.
struct DeviceFacts {
  std::string driver;
  std::map<std::string, DeviceValue, std::less<>> attributes;  // by "domain/name"
  std::map<std::string, std::int64_t, std::less<>> capacity;   // in thousandths, by "domain/name"
};

enum class Selected : std::uint8_t { kNo, kYes, kUnknown };

// A CEL selector of a DeviceClass or of a request. Of the language these parts are read:
// - device.driver, device.attributes["domain"].name, has(device.attributes["domain"].name) and
//   literals (string without escapes, bool, int);
// - == != < <= > >=, `in` a list of literals, && || ! and parentheses;
// - device.capacity["domain"].name with .compareTo(quantity("40Gi")) and a comparison of that with
//   an int, .isGreaterThan(quantity(...)) and .isLessThan(quantity(...)).
// An attribute that the device lacks is an error, and so is what depends on it: not a match.
//
// Errors  an expression that says anything else is not exact: it matches kUnknown.
// Cost    linear in the text, O(log attributes) per operand for each device.
// Source  k8s.io/dynamic-resource-allocation/cel; cel.dev, "Language Definition".
class DeviceSelector {
 public:
  explicit DeviceSelector(std::string_view expression);

  bool exact() const { return exact_; }
  Selected Matches(const DeviceFacts& device) const;

  enum class Kind : std::uint8_t {
    kLiteral,
    kDriver,
    kAttribute,  // `key`
    kHas,        // `key`
    kCapacity,   // `key` compared with `amount`: -1, 0 or 1
    kNot,
    kAnd,
    kOr,
    kEqual,
    kLess,
    kIn,  // the first part in the others
  };
  struct Term {
    Kind kind = Kind::kLiteral;
    std::string key = {};
    std::int64_t amount = 0;  // in thousandths
    DeviceValue value = {};
    std::vector<Term> parts = {};
  };

 private:
  Term term_;
  bool exact_ = false;
};

}  // namespace weft::api
