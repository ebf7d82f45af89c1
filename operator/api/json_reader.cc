#include "operator/api/json_reader.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"
#include "operator/base/near_word.h"
#include "operator/base/quantity.h"
#include "operator/base/utf8.h"

namespace weft::api {
namespace {

using Json = nlohmann::json;

// Limit of a name or value in a message: hostile input has keys of megabytes.
constexpr std::size_t kShownBytes = 120;

std::string Shown(std::string_view text) { return Excerpt(text, kShownBytes); }

bool IsPlainKey(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

// The refused value for the start of a message; "" for a map, or a list that is long or contains
// other values than texts and numbers.
std::string ShownValue(const Json& value) {
  constexpr std::size_t kListItems = 8;
  if (value.is_string()) return "\"" + Shown(value.get_ref<const std::string&>()) + "\"";
  if (value.is_primitive()) return Shown(JsonText(value));
  if (!value.is_array() || value.size() > kListItems) return "";
  std::string list;
  for (const Json& item : value) {
    if (item.is_structured()) return "";
    list += (list.empty() ? "" : ", ") + ShownValue(item);
  }
  return "[" + list + "]";
}

// The value of a number as an integer; nothing if it is not an integer.
std::optional<std::int64_t> ExactInteger(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return {};
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  constexpr double kExactBelow = 9007199254740992.0;  // 2^53: doubles are exact integers up to here
  const double number = value.get<double>();
  if (!(std::abs(number) <= kExactBelow) || number != std::trunc(number)) return {};
  return static_cast<std::int64_t>(number);
}

// Why a number outside the integers that ExactInteger knows is refused. YAML and JSON readers pass
// on a number past 64 bits as a double.
std::string NotInRange(const Json& value, IntRange range) {
  const auto number = value.get<double>();
  if (number > static_cast<double>(range.max)) {
    return "must be at most " + std::to_string(range.max);
  }
  if (number < static_cast<double>(range.min)) {
    return "must be at least " + std::to_string(range.min);
  }
  return "must be an integer";
}

}  // namespace

void AppendKey(std::string_view key, std::string& path) {
  if (IsPlainKey(key)) {
    path += (path.empty() ? "" : ".") + Shown(key);
  } else {
    path += "[" + Shown(key) + "]";
  }
}

void AppendIndex(std::size_t index, std::string& path) {
  path += "[" + std::to_string(index) + "]";
}

Decoding::Decoding(const Json& object, const Place& place, Reading reading)
    : object_(&object), place_(place), reading_(reading) {
  const std::string kind = TextAt(object, "kind");
  const auto metadata = object.is_object() ? object.find("metadata") : object.end();
  ObjectKey key;
  if (metadata != object.end() && metadata->is_object()) {
    key = {Shown(TextAt(*metadata, "namespace")), Shown(TextAt(*metadata, "name"))};
  }
  if (!kind.empty()) place_ += ": " + Shown(kind);
  if (!key.name.empty()) place_ += (kind.empty() ? ": " : " ") + Show(key);
  steps_.push_back({0, 0, {}});
}

Field Decoding::Root() { return {this, object_, 0}; }

Status Decoding::status() const {
  if (failed()) return Invalid(place_ + ": " + why_);
  return {};
}

std::string Decoding::Path(std::uint32_t step) const {
  std::vector<std::uint32_t> chain;
  for (; step != 0; step = steps_[step].parent) chain.push_back(step);
  std::string path;
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    const PathPart& part = steps_[*at];
    if (part.index != kKey) {
      AppendIndex(part.index, path);
    } else {
      AppendKey(part.key, path);
    }
  }
  return path;
}

Field::Field(Decoding* decoding, const Json* value, std::uint32_t step)
    : decoding_(decoding),
      value_(value != nullptr && value->is_null() ? nullptr : value),
      step_(step) {}

Field Field::Below(const Json* value, Decoding::PathPart step) const {
  decoding_->steps_.push_back(step);
  return {decoding_, value, static_cast<std::uint32_t>(decoding_->steps_.size() - 1)};
}

Field Field::operator[](std::string_view key) const {
  const Json* value = nullptr;
  if (present()) {
    if (!value_->is_object()) {
      FailType("an object");
    } else if (const auto found = value_->find(key); found != value_->end()) {
      value = &*found;
    }
  }
  return Below(value, {step_, Decoding::kKey, key});
}

const Field& Field::Require() const {
  if (!present()) Fail("is required");
  return *this;
}

void Field::RefuseUnknown(std::span<const std::string_view> known) const {
  if (!present()) return;
  if (!value_->is_object()) return FailType("an object");
  if (decoding_->reading_ == Reading::kServed) return;
  for (const auto& [name, value] : value_->get_ref<const Json::object_t&>()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string_view near = NearWord(name, known);
      const std::string meant = near.empty() ? "" : "; did you mean " + std::string(near) + "?";
      return Below(&value, {step_, Decoding::kKey, name}).Note("unknown field" + meant);
    }
  }
}

void Field::Fail(const std::string& what) const {
  const std::string value = present() ? ShownValue(*value_) : "";
  Note(value.empty() ? what : value + " " + what);
}

void Field::FailType(const std::string& wanted) const {
  const bool shown = !present() || !ShownValue(*value_).empty();
  const char* is = shown ? "" : value_->is_array() ? ", not a list" : ", not an object";
  Fail("must be " + wanted + is);
}

void Field::Note(const std::string& what) const {
  if (decoding_->failed()) return;
  const std::string where = path();
  decoding_->why_ = where + (where.empty() ? "" : ": ") + what;
}

std::string Field::Str(std::string_view fallback) const {
  if (!present()) return std::string(fallback);
  if (value_->is_string()) return value_->get_ref<const std::string&>();
  FailType(value_->is_primitive() ? "a string; quote it" : "a string");
  return std::string(fallback);
}

bool Field::Bool(bool fallback) const {
  if (!present()) return fallback;
  if (value_->is_boolean()) return value_->get<bool>();
  FailType("true or false");
  return fallback;
}

std::int64_t Field::Int(IntRange range, std::int64_t fallback) const {
  return OptionalInt(range).value_or(fallback);
}

std::optional<std::int64_t> Field::OptionalInt(IntRange range) const {
  if (!present()) return {};
  if (!value_->is_number()) {
    FailType("an integer");
    return {};
  }
  const std::optional<std::int64_t> number = ExactInteger(*value_);
  if (!number) {
    Fail(NotInRange(*value_, range));
  } else if (*number < range.min) {
    Fail("must be at least " + std::to_string(range.min));
  } else if (*number > range.max) {
    Fail("must be at most " + std::to_string(range.max));
  } else {
    return number;
  }
  return {};
}

double Field::Number(double fallback) const {
  if (!present()) return fallback;
  if (value_->is_number()) return value_->get<double>();
  FailType("a number");
  return fallback;
}

std::optional<std::int64_t> Field::AnyQuantity(bool milli) const {
  if (!present()) return {};
  if (!value_->is_string() && !value_->is_number()) {
    FailType("a quantity such as 8, \"500m\" or \"64Gi\"");
    return {};
  }
  const std::string text =
      value_->is_string() ? value_->get_ref<const std::string&>() : value_->dump();
  const Result<std::int64_t> amount = milli ? ParseMilliQuantity(text) : ParseQuantity(text);
  if (amount) return *amount;
  Note(amount.error().message);  // its message shows the value
  return {};
}

std::int64_t Field::Quantity(std::int64_t fallback) const {
  return AnyQuantity(false).value_or(fallback);
}

std::int64_t Field::MilliQuantity(std::int64_t fallback) const {
  return AnyQuantity(true).value_or(fallback);
}

std::optional<std::int64_t> Field::OptionalQuantity() const { return AnyQuantity(false); }

std::size_t Field::OneOf(std::initializer_list<std::string_view> names,
                         std::size_t fallback) const {
  if (!present()) return fallback;
  const std::string text = Str();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string list;
  for (const std::string_view name : names) {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  Fail("must be one of " + list);
  return fallback;
}

std::vector<Field> Field::Items() const {
  std::vector<Field> items;
  if (!present()) return items;
  if (!value_->is_array()) {
    FailType("a list");
    return items;
  }
  items.reserve(value_->size());
  for (const Json& item : *value_) {
    items.push_back(Below(&item, {step_, static_cast<std::uint32_t>(items.size()), {}}));
  }
  return items;
}

std::vector<Field> Field::Members() const {
  std::vector<Field> members;
  if (!present()) return members;
  if (!value_->is_object()) {
    FailType("an object");
    return members;
  }
  members.reserve(value_->size());
  for (const auto& [name, value] : value_->get_ref<const Json::object_t&>()) {
    members.push_back(Below(&value, {step_, Decoding::kKey, name}));
  }
  return members;
}

std::string_view Field::key() const { return decoding_->steps_[step_].key; }

std::vector<std::string> Field::StrList() const {
  std::vector<std::string> texts;
  for (const Field& item : Items()) {
    if (!item.present()) item.Fail("must be a string");
    texts.push_back(item.Str());
  }
  return texts;
}

std::map<std::string, std::string> Field::StrMap() const {
  std::map<std::string, std::string> texts;
  for (const Field& member : Members()) {
    texts.emplace_hint(texts.end(), member.key(), member.Str());
  }
  return texts;
}

TextMap Field::Texts() const {
  TextMap texts(StrMap());
  texts.Trim();
  return texts;
}

std::string Field::path() const { return decoding_->Path(step_); }

}  // namespace weft::api
