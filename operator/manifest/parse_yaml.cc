#include <yaml.h>

#include <algorithm>
#include <optional>

#include "operator/base/check.h"
#include "operator/manifest/number.h"
#include "operator/manifest/parsers.h"
#include "operator/manifest/text_check.h"
#include "operator/manifest/yaml_scalar.h"

namespace weft::manifest {
namespace {

using Json = nlohmann::json;

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

// How a scalar's tag and style decide its type.
enum class Typing { kText, kResolve, kUnknownTag };
Typing TypingOf(const yaml_event_t& event) {
  const auto& scalar = event.data.scalar;
  const std::string_view tag = View(scalar.tag);
  if (tag.empty()) return scalar.plain_implicit != 0 ? Typing::kResolve : Typing::kText;
  if (tag == "!" || tag == YAML_STR_TAG) return Typing::kText;
  for (const std::string_view known :
       {YAML_NULL_TAG, YAML_BOOL_TAG, YAML_INT_TAG, YAML_FLOAT_TAG}) {
    if (tag == known) return Typing::kResolve;
  }
  return Typing::kUnknownTag;
}

bool TagFits(std::string_view tag, Plain kind) {
  if (tag.empty()) return true;
  if (tag == YAML_NULL_TAG) return kind == Plain::kNull;
  if (tag == YAML_BOOL_TAG) return kind == Plain::kTrue || kind == Plain::kFalse;
  if (tag == YAML_INT_TAG) return kind == Plain::kInteger;
  return kind == Plain::kInteger || kind == Plain::kFloat;
}

// Checks LibYAML's events and passes them on.
class YamlEvents {
 public:
  explicit YamlEvents(ObjectBuilder& builder) : builder_(builder) {}

  bool Take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        open_.clear();
        return builder_.StartDocument();
      case YAML_ALIAS_EVENT:
        return builder_.Refuse("aliases (*name) are not read; write the value out");
      case YAML_SCALAR_EVENT:
        return TakeScalar(event);
      case YAML_SEQUENCE_START_EVENT:
        return TakeStart(View(event.data.sequence_start.tag), YAML_SEQ_TAG, Next::kItem);
      case YAML_MAPPING_START_EVENT:
        return TakeStart(View(event.data.mapping_start.tag), YAML_MAP_TAG, Next::kKey);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        open_.pop_back();
        TookValue();
        return builder_.End();
      default:
        return true;
    }
  }

 private:
  enum class Next : std::uint8_t { kItem, kKey, kValue };

  void TookValue() {
    if (!open_.empty() && open_.back() == Next::kValue) open_.back() = Next::kKey;
  }

  bool TakeStart(std::string_view tag, std::string_view usual, Next next) {
    if (!open_.empty() && open_.back() == Next::kKey) {
      return builder_.Refuse("a key must be text, not a map or a list");
    }
    if (!tag.empty() && tag != "!" && tag != usual) return RefuseTag(tag);
    open_.push_back(next);
    return next == Next::kKey ? builder_.StartMap() : builder_.StartList();
  }

  bool TakeScalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const bool plain = scalar.plain_implicit != 0 && scalar.tag == nullptr;
    if (!open_.empty() && open_.back() == Next::kKey) {
      if (plain && text == "<<") {
        return builder_.Refuse("merge keys (<<) are not read; write the fields out");
      }
      if (plain && (text.empty() || text == "~")) return builder_.Refuse("a key must be text");
      if (text.find('\0') != text.npos) return builder_.Refuse("a NUL inside a key");
      open_.back() = Next::kValue;
      return builder_.Key(text);
    }
    TookValue();
    return TakeValue(event, text);
  }

  bool TakeValue(const yaml_event_t& event, std::string_view text) {
    if (builder_.skipping()) return builder_.Scalar(nullptr);
    const Typing typing = TypingOf(event);
    const std::string_view tag = View(event.data.scalar.tag);
    if (typing == Typing::kUnknownTag) return RefuseTag(tag);
    if (typing == Typing::kText) return builder_.String(text);
    const Plain kind = PlainKind(text);
    if (!TagFits(tag, kind)) {
      return builder_.Refuse("\"" + ForMessage(text) + "\" is not of its tag's type");
    }
    switch (kind) {
      case Plain::kNull:
        return builder_.Scalar(nullptr);
      case Plain::kTrue:
      case Plain::kFalse:
        return builder_.Scalar(kind == Plain::kTrue);
      case Plain::kInteger:
      case Plain::kFloat:
        return TakeNumber(text, kind);
      case Plain::kText:
        return builder_.String(text);
      case Plain::kAmbiguous:
        break;
    }
    return builder_.Refuse("\"" + std::string(text) +
                           "\" is true or false to some readers and text to others; write "
                           "true or false, or quote it");
  }

  bool TakeNumber(std::string_view text, Plain kind) {
    std::optional<Json> number = ParseNumber(text, kind == Plain::kInteger);
    if (!number) return builder_.Refuse("number out of range: " + ForMessage(text));
    return builder_.Scalar(std::move(*number));
  }

  bool RefuseTag(std::string_view tag) {
    return builder_.Refuse("the tag \"" + ForMessage(tag) + "\" is not read");
  }

  ObjectBuilder& builder_;
  std::vector<Next> open_;  // maps and lists, outermost first
};

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
  YamlEvents events(builder);
  while (true) {
    Event event;
    if (yaml_parser_parse(parser.get(), event.get()) == 0) {
      return SyntaxError(name, text, *parser.get());
    }
    if (event->type == YAML_STREAM_END_EVENT) return {};
    if (!events.Take(*event.get())) return builder.Failure(event.line());
  }
}

}  // namespace weft::manifest
