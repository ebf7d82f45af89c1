#include "operator/manifest/writer.h"

#include <yaml-cpp/emitter.h>
#include <yaml-cpp/emittermanip.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "operator/base/ascii.h"
#include "operator/manifest/yaml_scalar.h"

namespace weft::manifest {
namespace {

// YAML 1.2, section 8.2.2: an implicit key has at most 1024 characters; longer ones need "? ".
constexpr std::size_t kImplicitKeyBytes = 1000;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Whether the text is like 64Gi, 2062G, 500m or 1.5T, which no YAML version reads as a number.
bool IsSuffixedQuantity(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789.");
  if (digits == 0 || digits == text.npos) return false;
  static constexpr std::array<std::string_view, 10> kSuffixes = {"m", "k",  "M",  "G",  "T",
                                                                 "P", "Ki", "Mi", "Gi", "Ti"};
  return std::find(kSuffixes.begin(), kSuffixes.end(), text.substr(digits)) != kSuffixes.end();
}

// Whether all readers read the unquoted text as this text. yaml-cpp leaves "true" and "8" unquoted,
// but readers take them for a boolean and a number.
bool IsSafePlain(std::string_view text) {
  if (text.empty() || text.back() == ':') return false;
  if (IsDigit(text[0])) return IsSuffixedQuantity(text);
  if (!IsLetter(text[0]) && text[0] != '/') return false;
  const auto safe = [](char c) {
    return IsLetter(c) || IsDigit(c) || c == '-' || c == '_' || c == '.' || c == '/' || c == ':' ||
           c == '+' || c == '@';
  };
  return std::all_of(text.begin(), text.end(), safe) && PlainKind(text) == Plain::kText;
}

// Whether the text has characters that yaml-cpp does not escape, although YAML forbids them or
// reads them as line breaks: DEL, U+2028 and U+2029.
bool NeedsEscapes(std::string_view text) {
  return text.find('\x7F') != text.npos || text.find("\xE2\x80\xA8") != text.npos ||
         text.find("\xE2\x80\xA9") != text.npos;
}

void EmitText(YAML::Emitter& out, const std::string& text) {
  if (!IsSafePlain(text)) out << YAML::DoubleQuoted;
  if (NeedsEscapes(text)) out << YAML::EscapeNonAscii;
  out << text;
}

template <typename Json>
void Emit(YAML::Emitter& out, const Json& value) {
  if (value.is_object()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginMap;
    for (const auto& [key, member] : value.items()) {
      if (key.size() > kImplicitKeyBytes) out << YAML::LongKey;
      out << YAML::Key;
      EmitText(out, key);
      out << YAML::Value;
      Emit(out, member);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const Json& item : value) Emit(out, item);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    EmitText(out, value.template get_ref<const std::string&>());
  } else if (value.is_null()) {
    out << YAML::Null;
  } else {
    out << value.dump();  // true, 8, 3.5
  }
}

template <typename Json>
std::string Write(const Json& value) {
  YAML::Emitter out;
  out.SetNullFormat(YAML::LowerNull);
  Emit(out, value);
  return std::string(out.c_str(), out.size()) + "\n";
}

}  // namespace

std::string ToYaml(const nlohmann::json& value) { return Write(value); }
std::string ToYaml(const nlohmann::ordered_json& value) { return Write(value); }

}  // namespace weft::manifest
