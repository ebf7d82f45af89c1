#include "operator/manifest/parse_yaml.h"

#include <yaml.h>

#include <optional>

#include "operator/base/check.h"
#include "operator/manifest/text_check.h"
#include "operator/manifest/yaml_events.h"

namespace weft::manifest {
namespace {

// LibYAML compares each %TAG line with all earlier ones, so their number is limited.
constexpr std::size_t kMaxTagDirectives = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) {
    WEFT_CHECK(yaml_parser_initialize(&parser_) == 1);  // only fails without memory
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~Parser() { yaml_parser_delete(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  yaml_parser_t* get() { return &parser_; }

 private:
  yaml_parser_t parser_{};
};

class Event {
 public:
  Event() = default;
  ~Event() { yaml_event_delete(&event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  yaml_event_t* get() { return &event_; }
  const yaml_event_t* operator->() const { return &event_; }
  std::size_t line() const { return event_.start_mark.line + 1; }

 private:
  yaml_event_t event_{};
};

std::string_view View(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

// The part of an event; nothing for the events around documents. The views live as long as it.
std::optional<YamlPart> PartOf(const yaml_event_t& event) {
  using Type = YamlPart::Type;
  const std::size_t line = event.start_mark.line + 1;
  switch (event.type) {
    case YAML_ALIAS_EVENT:
      return YamlPart{Type::kAlias, false, line, "", "", View(event.data.alias.anchor)};
    case YAML_SCALAR_EVENT: {
      const auto& scalar = event.data.scalar;
      const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
      const bool plain = scalar.plain_implicit != 0;
      return YamlPart{Type::kScalar, plain, line, View(scalar.tag), text, View(scalar.anchor)};
    }
    case YAML_SEQUENCE_START_EVENT: {
      const auto& list = event.data.sequence_start;
      return YamlPart{Type::kList, false, line, View(list.tag), "", View(list.anchor)};
    }
    case YAML_MAPPING_START_EVENT: {
      const auto& map = event.data.mapping_start;
      return YamlPart{Type::kMap, false, line, View(map.tag), "", View(map.anchor)};
    }
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      return YamlPart{Type::kEnd, false, line, "", "", ""};
    default:
      return std::nullopt;
  }
}

Error SyntaxError(const std::string& name, std::string_view text, const yaml_parser_t& parser) {
  std::size_t line = parser.problem_mark.line + 1;
  if (parser.error == YAML_READER_ERROR) line = LineAt(text, parser.problem_offset);
  std::string what = parser.problem != nullptr ? parser.problem : "unreadable";
  if (parser.context != nullptr) what += std::string(" ") + parser.context;
  return Invalid(name + ": line " + std::to_string(line) + ": not YAML: " + what);
}

std::size_t CountTagDirectives(std::string_view text) {
  std::size_t count = text.starts_with("%TAG") ? 1 : 0;
  for (std::size_t at = text.find("\n%TAG"); at != text.npos; at = text.find("\n%TAG", at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

Status ParseYaml(const std::string& name, std::string_view text, ObjectBuilder& builder) {
  if (CountTagDirectives(text) > kMaxTagDirectives) {
    return Invalid(name + ": more than " + std::to_string(kMaxTagDirectives) + " %TAG lines");
  }
  Parser parser(text);
  YamlEvents events(builder, builder.limits());
  while (true) {
    Event event;
    if (yaml_parser_parse(parser.get(), event.get()) == 0) {
      return SyntaxError(name, text, *parser.get());
    }
    if (event->type == YAML_STREAM_END_EVENT) return {};
    if (event->type == YAML_DOCUMENT_START_EVENT && !events.StartDocument()) {
      return builder.Failure(event.line());
    }
    const std::optional<YamlPart> part = PartOf(*event.get());
    if (!part || events.Take(*part)) continue;
    builder.AddToRefusal(events.Source());
    return builder.Failure(events.line());
  }
}

}  // namespace weft::manifest
