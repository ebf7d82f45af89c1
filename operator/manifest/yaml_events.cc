#include "operator/manifest/yaml_events.h"

#include <set>
#include <utility>

#include "operator/manifest/number.h"
#include "operator/manifest/text_check.h"

namespace weft::manifest {
namespace {

// The tags of YAML's own types (yaml.org/type).
constexpr std::string_view kNullTag = "tag:yaml.org,2002:null";
constexpr std::string_view kBoolTag = "tag:yaml.org,2002:bool";
constexpr std::string_view kIntTag = "tag:yaml.org,2002:int";
constexpr std::string_view kFloatTag = "tag:yaml.org,2002:float";
constexpr std::string_view kTextTag = "tag:yaml.org,2002:str";
constexpr std::string_view kListTag = "tag:yaml.org,2002:seq";
constexpr std::string_view kMapTag = "tag:yaml.org,2002:map";
constexpr std::string_view kMergeTag = "tag:yaml.org,2002:merge";

// How a scalar's tag and style decide its type.
enum class Typing { kText, kResolve, kUnknownTag };
Typing TypingOf(const YamlPart& scalar) {
  if (scalar.tag.empty()) return scalar.plain ? Typing::kResolve : Typing::kText;
  if (scalar.tag == "!" || scalar.tag == kTextTag) return Typing::kText;
  for (const std::string_view known : {kNullTag, kBoolTag, kIntTag, kFloatTag}) {
    if (scalar.tag == known) return Typing::kResolve;
  }
  return Typing::kUnknownTag;
}

bool IsMergeKey(const YamlPart& key) {
  if (key.type != YamlPart::Type::kScalar || key.text != "<<") return false;
  return key.tag == kMergeTag || (key.plain && key.tag.empty());
}

bool TagFits(std::string_view tag, Plain kind) {
  if (tag.empty()) return true;
  if (tag == kNullTag) return kind == Plain::kNull;
  if (tag == kBoolTag) return kind == Plain::kTrue || kind == Plain::kFalse;
  if (tag == kIntTag) return kind == Plain::kInteger;
  return kind == Plain::kInteger || kind == Plain::kFloat;
}

}  // namespace

bool YamlEvents::StartDocument() {
  open_.clear();
  anchors_.StartDocument();
  return builder_.StartDocument();
}

bool YamlEvents::Take(const YamlPart& part) {
  line_ = part.line;
  if (part.type == Type::kAlias && !CheckAlias(part)) return false;
  anchors_.Record(part);
  if (Merging()) {
    const std::optional<Value> value = anchors_.TakeKept();
    return !value || (CountOf(*value, "<<") && AddMerge(value->span));
  }
  if (!Process(part, part.type == Type::kAlias ? anchors_.Find(part.anchor) : nullptr)) {
    return false;
  }
  if (Merging()) anchors_.KeepNext();
  return true;
}

std::string YamlEvents::Source() const {
  return source_line_ == 0 || source_line_ == line_
             ? ""
             : " (read from line " + std::to_string(source_line_) + ")";
}

bool YamlEvents::CheckAlias(const YamlPart& alias) {
  const Value* value = anchors_.Find(alias.anchor);
  const std::string name = ForMessage(alias.anchor);
  if (value == nullptr) {
    return builder_.Refuse("unknown alias *" + name + ": no anchor &" + name +
                           " stands before it in this document");
  }
  if (value->span.end > 0) return true;
  return builder_.Refuse("the alias *" + name + " stands inside its own anchor &" + name +
                         " of line " + std::to_string(value->line));
}

bool YamlEvents::CountOf(const Value& value, const std::string& what) {
  values_ += value.values;
  bytes_ += value.bytes;
  const bool many = values_ > limits_.alias_values;
  if (!many && bytes_ <= limits_.alias_bytes) return true;
  return builder_.Refuse(what + " (anchor in line " + std::to_string(value.line) +
                         ") makes aliases stand for " + "more than " +
                         (many ? std::to_string(limits_.alias_values) + " values"
                               : std::to_string(limits_.alias_bytes) + " bytes") +
                         " in this file; write the values out, or split the file");
}

bool YamlEvents::Process(const YamlPart& part, const Value* value) {
  switch (part.type) {
    case Type::kAlias:
      return TakeAlias(part, *value);
    case Type::kScalar:
      return TakeScalar(part);
    case Type::kList:
      return TakeStart(part.tag, kListTag, Next::kItem);
    case Type::kMap:
      return TakeStart(part.tag, kMapTag, Next::kKey);
    case Type::kEnd:
      return TakeEnd();
  }
  return false;
}

bool YamlEvents::TakeAlias(const YamlPart& alias, const Value& value) {
  if (depth_ == 0 && !CountOf(value, "*" + ForMessage(alias.anchor))) return false;
  if (!KeyIsNext() && builder_.skipping()) {
    TookValue();
    return builder_.Scalar(nullptr);
  }
  return Replay(value.span);
}

bool YamlEvents::ProcessKept(std::size_t at) {
  const YamlPart part = anchors_.PartAt(at);
  if (Process(part, part.type == Type::kAlias ? &anchors_.ValueOfAlias(at) : nullptr)) {
    return true;
  }
  if (source_line_ == 0) source_line_ = part.line;
  return false;
}

bool YamlEvents::Replay(Span span) {
  // Containers are limited by the builder, but a merge key adds none.
  if (depth_ >= limits_.depth) return RefuseDepth();
  ++depth_;
  for (std::size_t at = span.begin; at < span.end;) {
    if (!ProcessKept(at)) return false;
    ++at;
    if (!Merging() || at == span.end) continue;  // an alias of a merge key ends here
    const std::size_t end = anchors_.EndOf(at);
    if (!AddMerge({at, end})) return false;
    at = end;
  }
  --depth_;
  return true;
}

bool YamlEvents::RefuseDepth() {
  return builder_.Refuse("aliases nested deeper than " + std::to_string(limits_.depth));
}

bool YamlEvents::IsMap(std::size_t at) const {
  const Type type = anchors_.PartAt(at).type;
  if (type != Type::kAlias) return type == Type::kMap;
  return anchors_.PartAt(anchors_.ValueOfAlias(at).span.begin).type == Type::kMap;
}

bool YamlEvents::CheckMerge(Span value, bool second) {
  if (second) return builder_.Refuse("duplicate key \"<<\"");
  bool fits = IsMap(value.begin);
  if (anchors_.PartAt(value.begin).type == Type::kList) {
    fits = true;
    for (std::size_t at = value.begin + 1; at + 1 < value.end; at = anchors_.EndOf(at)) {
      fits = fits && IsMap(at);
    }
  }
  if (fits) return true;
  return builder_.Refuse("a merge key (<<) needs a map, an alias of a map, or a list of these");
}

bool YamlEvents::AddMerge(Span value) {
  if (!CheckMerge(value, open_.back().merge.has_value())) return false;
  open_.back() = {Next::kKey, value};
  return true;
}

bool YamlEvents::Merge(Span value) {
  const Type type = anchors_.PartAt(value.begin).type;
  if (type == Type::kAlias) return MergeMap(anchors_.ValueOfAlias(value.begin).span);
  if (type == Type::kMap) return MergeMap(value);
  for (std::size_t at = value.begin + 1; at + 1 < value.end;) {
    const std::size_t end = anchors_.EndOf(at);
    if (!Merge({at, end})) return false;
    at = end;
  }
  return true;
}

bool YamlEvents::MergeMap(Span map) {
  if (depth_ >= limits_.depth) return RefuseDepth();
  ++depth_;
  std::optional<Span> merge;
  std::set<std::string, std::less<>> own;
  for (std::size_t at = map.begin + 1; at + 1 < map.end;) {
    const std::size_t key_end = anchors_.EndOf(at);
    const Span value{key_end, anchors_.EndOf(key_end)};
    const std::size_t key_at = std::exchange(at, value.end);
    const YamlPart key = KeyAt(key_at);
    if (IsMergeKey(key)) {
      if (!CheckMerge(value, merge.has_value())) return false;
      merge = value;
    } else if (key.type == Type::kScalar && !own.emplace(key.text).second) {
      source_line_ = key.line;
      return builder_.Refuse("duplicate key \"" + ForMessage(key.text) + "\"");
    } else if (key.type != Type::kScalar || !builder_.HasKey(key.text)) {
      if (!ProcessKept(key_at) || !Replay(value)) return false;
    }
  }
  if (merge && !Merge(*merge)) return false;
  --depth_;
  return true;
}

YamlPart YamlEvents::KeyAt(std::size_t at) const {
  const YamlPart key = anchors_.PartAt(at);
  if (key.type != Type::kAlias) return key;
  return anchors_.PartAt(anchors_.ValueOfAlias(at).span.begin);
}

void YamlEvents::TookValue() {
  if (!open_.empty() && open_.back().next == Next::kValue) open_.back().next = Next::kKey;
}

bool YamlEvents::TakeStart(std::string_view tag, std::string_view usual, Next next) {
  if (KeyIsNext()) return builder_.Refuse("a key must be text, not a map or a list");
  if (!tag.empty() && tag != "!" && tag != usual) return RefuseTag(tag);
  open_.push_back({next, std::nullopt});
  return next == Next::kKey ? builder_.StartMap() : builder_.StartList();
}

bool YamlEvents::TakeEnd() {
  const std::optional<Span> merge = open_.back().merge;
  const bool live = depth_ == 0;
  if (merge && !builder_.skipping() && !Merge(*merge)) {
    if (live) line_ = anchors_.PartAt(merge->begin).line;
    return false;
  }
  open_.pop_back();
  TookValue();
  return builder_.End();
}

bool YamlEvents::TakeScalar(const YamlPart& scalar) {
  const std::string_view text = scalar.text;
  if (KeyIsNext()) {
    if (IsMergeKey(scalar)) {
      open_.back().next = Next::kMerge;
      return true;
    }
    const bool plain = scalar.plain && scalar.tag.empty();
    if (plain && (text.empty() || text == "~")) return builder_.Refuse("a key must be text");
    if (text.find('\0') != text.npos) return builder_.Refuse("a NUL inside a key");
    open_.back().next = Next::kValue;
    return builder_.Key(text);
  }
  TookValue();
  return TakeValue(scalar);
}

bool YamlEvents::TakeValue(const YamlPart& scalar) {
  if (builder_.skipping()) return builder_.Scalar(nullptr);
  const Typing typing = TypingOf(scalar);
  const std::string_view text = scalar.text, tag = scalar.tag;
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

bool YamlEvents::TakeNumber(std::string_view text, Plain kind) {
  std::optional<nlohmann::json> number = ParseNumber(text, kind == Plain::kInteger);
  if (!number) return builder_.Refuse("number out of range: " + ForMessage(text));
  return builder_.Scalar(std::move(*number));
}

bool YamlEvents::RefuseTag(std::string_view tag) {
  return builder_.Refuse("the tag \"" + ForMessage(tag) + "\" is not read");
}

}  // namespace weft::manifest
