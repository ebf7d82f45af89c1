#include "operator/api/names.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/base/ascii.h"
#include "operator/base/utf8.h"

namespace weft::api {
namespace {

// Limits of labels and qualified names, from k8s.io/apimachinery, pkg/util/validation.
constexpr std::size_t kLabelNameBytes = 63;
constexpr std::size_t kPrefixBytes = 253;
constexpr std::size_t kOurNameBytes = 40;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsLetter(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }
bool IsLowerOrDigit(char c) { return IsLower(c) || IsDigit(c); }
bool IsLetterOrDigit(char c) { return IsLetter(c) || IsDigit(c); }

// The characters that a kind of name may contain.
struct Alphabet {
  bool (*first)(char);
  bool (*last)(char);
  bool (*middle)(char);
  std::size_t at_most;
};

bool Fits(std::string_view text, const Alphabet& alphabet) {
  if (text.empty() || text.size() > alphabet.at_most) return false;
  if (!alphabet.first(text.front()) || !alphabet.last(text.back())) return false;
  return std::all_of(text.begin(), text.end(), alphabet.middle);
}

bool IsLabelName(std::string_view text) {
  return Fits(text, {IsLetterOrDigit, IsLetterOrDigit,
                     [](char c) { return IsLetterOrDigit(c) || c == '-' || c == '_' || c == '.'; },
                     kLabelNameBytes});
}

bool IsPrefix(std::string_view text) {
  return Fits(text,
              {IsLowerOrDigit, IsLowerOrDigit,
               [](char c) { return IsLowerOrDigit(c) || c == '-' || c == '.'; }, kPrefixBytes});
}

template <typename Check>
std::string ReadChecked(const Field& field, Check check, const char* what) {
  std::string text = field.Str();
  if (field.present() && !check(text)) field.Fail(what);
  return text;
}

}  // namespace

bool IsJobName(std::string_view name) {
  return Fits(name, {IsLower, IsLowerOrDigit, [](char c) { return IsLowerOrDigit(c) || c == '-'; },
                     kOurNameBytes});
}

bool IsFabricName(std::string_view name) {
  return Fits(name,
              {IsLowerOrDigit, IsLowerOrDigit,
               [](char c) { return IsLowerOrDigit(c) || c == '-' || c == '.'; }, kLabelNameBytes});
}

bool IsLevelName(std::string_view name) {
  return Fits(name, {IsLetter, IsLetterOrDigit,
                     [](char c) { return IsLetterOrDigit(c) || c == '-' || c == '_' || c == '.'; },
                     kOurNameBytes});
}

bool IsSubdomain(std::string_view name) { return IsPrefix(name); }

bool IsQualifiedName(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return IsLabelName(name);
  return IsPrefix(name.substr(0, slash)) && IsLabelName(name.substr(slash + 1));
}

bool IsExtendedResource(std::string_view name) {
  return IsQualifiedName(name) && name.find('/') != std::string_view::npos &&
         name.find("kubernetes.io/") == std::string_view::npos && !name.starts_with("requests.");
}

std::string ReadJobName(const Field& field) {
  return ReadChecked(field, IsJobName,
                     "must be 1 to 40 of a-z, 0-9 and '-', start with a letter and not end in '-'");
}

std::string ReadFabricName(const Field& field) {
  return ReadChecked(
      field, IsFabricName,
      "must be 1 to 63 of a-z, 0-9, '-' and '.', and start and end with a letter or digit");
}

std::string ReadLevelName(const Field& field) {
  return ReadChecked(field, IsLevelName,
                     "must be 1 to 40 letters, digits, '-', '_' and '.', start with a letter and "
                     "end with a letter or digit");
}

std::string ReadLabelKey(const Field& field) {
  return ReadChecked(field, IsQualifiedName, "must be a label key such as example.com/rack");
}

std::string ReadLabelValue(const Field& field) {
  return ReadChecked(
      field, [](const std::string& text) { return text.empty() || IsLabelName(text); },
      "must be a label value: at most 63 letters, digits, '-', '_' and '.'");
}

std::string ReadText(const Field& field) {
  return ReadChecked(
      field, [](const std::string& text) { return CodePoints(text) <= kTextAtMost; },
      "must be at most 253 characters long");
}

std::optional<std::int64_t> ReadQuantity(const Field& field) {
  if (field.present() && field.json()->is_number_float()) {
    field.Fail("must be an integer, or a quantity in quotes");
  }
  return field.OptionalQuantity();
}

std::size_t ReadName(const Field& field, Names names, std::size_t fallback) {
  if (!field.present()) return fallback;
  const auto found = std::find(names.begin(), names.end(), field.Str());
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string known;
  for (const std::string_view name : names)
    known += (known.empty() ? "" : ", ") + std::string(name);
  field.Fail("must be one of " + known);
  return fallback;
}

std::vector<Field> ReadItems(const Field& field, std::size_t at_most) {
  std::vector<Field> items = field.Items();
  if (items.size() > at_most) {
    field.Fail("must have at most " + std::to_string(at_most) + " items, has " +
               std::to_string(items.size()));
    items.resize(at_most, field);
  }
  return items;
}

}  // namespace weft::api
