#include "operator/manifest/writer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "operator/manifest/yaml_scalar.h"

namespace weft::manifest {
namespace {

// YAML 1.2, section 8.2.2: an implicit key has at most 1024 characters; longer ones need "? ".
constexpr std::size_t kImplicitKeyBytes = 1000;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// 64Gi, 2062G, 500m, 1.5T: no YAML version sees a number there.
bool IsSuffixedQuantity(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789.");
  if (digits == 0 || digits == text.npos) return false;
  static constexpr std::array<std::string_view, 10> kSuffixes = {"m", "k",  "M",  "G",  "T",
                                                                 "P", "Ki", "Mi", "Gi", "Ti"};
  return std::find(kSuffixes.begin(), kSuffixes.end(), text.substr(digits)) != kSuffixes.end();
}

// True where every reader takes the unquoted text for that text.
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

void AppendHex(std::string& out, char letter, unsigned value, int digits) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  out += '\\';
  out += letter;
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += kHex[(value >> shift) & 0xFU];
}

// Characters past ASCII that YAML calls not printable, or line breaks: U+0080..U+009F, U+2028,
// U+2029, U+FEFF, U+FFFE, U+FFFF. Returns the bytes used, 0 where `text` starts with another.
std::size_t AppendEscapedWide(std::string& out, std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  if (byte(0) == 0xC2 && byte(1) < 0xA0) {
    AppendHex(out, 'x', byte(1), 2);
    return 2;
  }
  if (byte(0) != 0xE2 && byte(0) != 0xEF) return 0;
  const unsigned code = ((byte(0) & 0xFU) << 12) | ((byte(1) & 0x3FU) << 6) | (byte(2) & 0x3FU);
  if (code != 0x2028 && code != 0x2029 && code != 0xFEFF && code < 0xFFFE) return 0;
  AppendHex(out, 'u', code, 4);
  return 3;
}

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      if (const std::size_t used = AppendEscapedWide(out, text.substr(i)); used > 0) {
        i += used;
        continue;
      }
      out += text[i];
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i];
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7F) {
      AppendHex(out, 'x', c, 2);
    } else {
      out += text[i];
    }
    ++i;
  }
  out += '"';
}

void AppendText(std::string& out, std::string_view text) {
  if (IsSafePlain(text)) {
    out += text;
  } else {
    AppendQuoted(out, text);
  }
}

template <typename Json>
void AppendScalar(std::string& out, const Json& value) {
  if (value.is_string()) {
    AppendText(out, value.template get_ref<const std::string&>());
  } else if (value.is_number_unsigned()) {
    out += std::to_string(value.template get<std::uint64_t>());
  } else if (value.is_number_integer()) {
    out += std::to_string(value.template get<std::int64_t>());
  } else if (value.is_object()) {
    out += "{}";
  } else if (value.is_array()) {
    out += "[]";
  } else {
    out += value.dump();  // null, bool, float
  }
}

template <typename Json>
bool IsBlock(const Json& value) {
  return value.is_structured() && !value.empty();
}

template <typename Json>
void AppendBlock(std::string& out, const Json& value, std::size_t indent);

template <typename Json>
void AppendMember(std::string& out, const std::string& key, const Json& value, std::size_t indent) {
  const std::size_t start = out.size();
  AppendText(out, key);
  if (out.size() - start > kImplicitKeyBytes) {
    out.insert(start, "? ");
    out += '\n';
    out.append(indent, ' ');
  }
  out += ':';
  if (!IsBlock(value)) {
    out += ' ';
    AppendScalar(out, value);
    out += '\n';
    return;
  }
  out += '\n';
  // A list stands at its key's own column, as kubectl writes it.
  const std::size_t inner = value.is_array() ? indent : indent + 2;
  out.append(inner, ' ');
  AppendBlock(out, value, inner);
}

// The text of a block whose first line has been indented already.
template <typename Json>
void AppendBlock(std::string& out, const Json& value, std::size_t indent) {
  if (!IsBlock(value)) {
    AppendScalar(out, value);
    out += '\n';
    return;
  }
  bool first = true;
  const auto next_line = [&] {
    if (!first) out.append(indent, ' ');
    first = false;
  };
  if (value.is_array()) {
    for (const Json& item : value) {
      next_line();
      out += "- ";
      AppendBlock(out, item, indent + 2);
    }
    return;
  }
  for (const auto& [key, member] : value.template get_ref<const typename Json::object_t&>()) {
    next_line();
    AppendMember(out, key, member, indent);
  }
}

template <typename Json>
std::string Write(const Json& value) {
  std::string out;
  AppendBlock(out, value, 0);
  return out;
}

}  // namespace

std::string ToYaml(const nlohmann::json& value) { return Write(value); }
std::string ToYaml(const nlohmann::ordered_json& value) { return Write(value); }

}  // namespace weft::manifest
