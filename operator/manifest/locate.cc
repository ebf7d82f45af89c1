#include "operator/manifest/locate.h"

#include <rapidjson/reader.h>
#include <yaml.h>

#include <charconv>

#include "operator/api/json_reader.h"
#include "operator/manifest/text_check.h"
#include "operator/manifest/text_form.h"

namespace weft::manifest {
namespace {

// Follows a parser's events to one value. Every event has its line.
class PathFinder {
 public:
  explicit PathFinder(const ValuePlace& place) : place_(place) {
    if (place.item) {
      api::AppendKey("items", target_);
      api::AppendIndex(*place.item, target_);
    }
    if (!place.path.empty()) target_ += (target_.empty() || place.path[0] == '[' ? "" : ".");
    target_ += place.path;
  }

  // The line of the longest part of the path that was found so far.
  std::optional<std::size_t> line() const { return line_; }
  bool done() const { return documents_ > place_.document; }

  void StartDocument() {
    ++documents_;
    frames_.clear();
    key_line_ = 0;
  }
  void Key(std::string_view key, std::size_t line) {
    if (frames_.empty()) return;
    key_ = key;
    key_line_ = line;
  }
  void Scalar(std::size_t line) { Value(line); }
  void Start(bool list, std::size_t line) {
    const std::optional<std::string> path = Value(line);
    frames_.push_back({path, list, 0});
  }
  void End() { frames_.pop_back(); }

 private:
  struct Frame {
    std::optional<std::string> path;  // nothing: not on the path to the value
    bool list;
    std::size_t next;  // index of a list's next element
  };

  // The path of the value that an event begins, if it is on the way.
  std::optional<std::string> Value(std::size_t line) {
    if (documents_ != place_.document) return {};
    std::string path;
    if (!frames_.empty()) {
      Frame& around = frames_.back();
      const std::size_t index = around.next++;
      if (!around.path) return {};
      path = *around.path;
      if (around.list) {
        api::AppendIndex(index, path);
      } else {
        // An absent field may stand behind the merge key.
        if (key_ == "<<" && path.size() < target_.size() && OnTheWay(path)) Found(path, key_line_);
        api::AppendKey(key_, path);
        line = key_line_;
      }
    }
    if (!OnTheWay(path)) return {};
    Found(path, line);
    return path;
  }

  void Found(const std::string& path, std::size_t line) {
    if (line_ && path.size() < found_bytes_) return;
    line_ = line;
    found_bytes_ = path.size();
  }

  bool OnTheWay(const std::string& path) const {
    if (!target_.starts_with(path)) return false;
    const bool whole = path.size() == target_.size() || path.empty();
    return whole || target_[path.size()] == '.' || target_[path.size()] == '[';
  }

  const ValuePlace& place_;
  std::string target_;
  std::vector<Frame> frames_;
  std::string key_;
  std::size_t key_line_ = 0;
  std::size_t documents_ = 0;
  std::optional<std::size_t> line_;
  std::size_t found_bytes_ = 0;
};

// Passes on one event of LibYAML. `keys` says for each open map and list whether a key comes next.
void Take(const yaml_event_t& event, std::vector<int>& keys, PathFinder& finder) {
  constexpr int kItem = 0, kKey = 1, kValue = 2;
  const std::size_t line = event.start_mark.line + 1;
  const bool key = !keys.empty() && keys.back() == kKey;
  const auto took = [&] {
    if (!keys.empty() && keys.back() == kValue) keys.back() = kKey;
  };
  if (event.type == YAML_DOCUMENT_START_EVENT) {
    finder.StartDocument();
  } else if (event.type == YAML_SCALAR_EVENT && key) {
    const auto& scalar = event.data.scalar;
    finder.Key({reinterpret_cast<const char*>(scalar.value), scalar.length}, line);
    keys.back() = kValue;
  } else if (event.type == YAML_ALIAS_EVENT && key) {
    finder.Key("", line);
    keys.back() = kValue;
  } else if (event.type == YAML_SCALAR_EVENT || event.type == YAML_ALIAS_EVENT) {
    finder.Scalar(line);
    took();
  } else if (event.type == YAML_MAPPING_START_EVENT || event.type == YAML_SEQUENCE_START_EVENT) {
    const bool list = event.type == YAML_SEQUENCE_START_EVENT;
    finder.Start(list, line);
    keys.push_back(list ? kItem : kKey);
  } else if (event.type == YAML_MAPPING_END_EVENT || event.type == YAML_SEQUENCE_END_EVENT) {
    finder.End();
    keys.pop_back();
    took();
  }
}

void WalkYaml(std::string_view text, PathFinder& finder) {
  yaml_parser_t parser;
  if (yaml_parser_initialize(&parser) == 0) return;
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()),
                               text.size());
  std::vector<int> keys;
  for (bool more = true; more && !finder.done();) {
    yaml_event_t event;
    if (yaml_parser_parse(&parser, &event) == 0) break;
    more = event.type != YAML_STREAM_END_EVENT;
    Take(event, keys, finder);
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
}

// A stream of RapidJSON that counts lines.
class LineStream {
 public:
  using Ch = char;
  explicit LineStream(std::string_view text) : text_(text) {}

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char Take() {
    const char c = Peek();
    if (c == '\n') ++line_;
    if (at_ < text_.size()) ++at_;
    return c;
  }
  std::size_t Tell() const { return at_; }
  std::size_t line() const { return line_; }
  bool OnlySpaceLeft() const { return text_.find_first_not_of(" \t\r\n", at_) == text_.npos; }
  // Required by RapidJSON, but only used for parsing in place.
  char* PutBegin() { return nullptr; }
  void Put(char) {}
  std::size_t PutEnd(char*) { return 0; }

 private:
  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
};

// Passes RapidJSON's events on.
class JsonEvents : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, JsonEvents> {
 public:
  JsonEvents(const LineStream& stream, PathFinder& finder) : stream_(stream), finder_(finder) {}

  bool Default() {
    return Did([&] { finder_.Scalar(stream_.line()); });
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    return Did([&] { finder_.Key({text, size}, stream_.line()); });
  }
  bool StartObject() {
    return Did([&] { finder_.Start(false, stream_.line()); });
  }
  bool StartArray() {
    return Did([&] { finder_.Start(true, stream_.line()); });
  }
  bool EndObject(rapidjson::SizeType) {
    return Did([&] { finder_.End(); });
  }
  bool EndArray(rapidjson::SizeType) {
    return Did([&] { finder_.End(); });
  }

 private:
  template <typename Event>
  bool Did(const Event& event) {
    event();
    return !finder_.done();
  }

  const LineStream& stream_;
  PathFinder& finder_;
};

void WalkJson(std::string_view text, PathFinder& finder) {
  constexpr unsigned kFlags = rapidjson::kParseStopWhenDoneFlag |
                              rapidjson::kParseNumbersAsStringsFlag |
                              rapidjson::kParseIterativeFlag;
  rapidjson::Reader reader;
  LineStream stream(text);
  JsonEvents events(stream, finder);
  while (!finder.done() && !stream.OnlySpaceLeft()) {
    finder.StartDocument();
    if (!reader.Parse<kFlags>(stream, events)) return;
  }
}

// Takes `word` and the number after it off the front of `text`: "document 12" -> 12.
std::optional<std::size_t> TakeNumber(std::string_view word, std::string_view& text) {
  std::size_t number = 0;
  if (!text.starts_with(word)) return {};
  const char* begin = text.data() + word.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// The field in "...: spec.y: 0 must be...": the part between two colons without a blank.
std::string PathIn(std::string_view rest) {
  const std::size_t before = rest.find(": ");
  if (before == rest.npos) return "";
  rest.remove_prefix(before + 2);
  const std::string_view path = rest.substr(0, rest.find(": "));
  return path.find(' ') == path.npos && path.size() < rest.size() ? std::string(path) : "";
}

// The place in a message, after the source's name.
std::optional<ValuePlace> PlaceIn(std::string_view rest) {
  ValuePlace place;
  const std::optional<std::size_t> document = TakeNumber(": document ", rest);
  if (!document) {  // a topograph model, not objects
    place.path = PathIn(rest);
    return place.path.empty() ? std::nullopt : std::optional(place);
  }
  place.document = *document;
  std::string_view item = rest;
  if (const auto index = TakeNumber(": items[", item); index && item.starts_with("]")) {
    place.item = index;
    rest = item.substr(1);
  }
  if (rest.starts_with(": ")) place.path = PathIn(rest.substr(2));
  return place;
}

}  // namespace

std::optional<std::size_t> LineOf(std::string_view text, const ValuePlace& place) {
  PathFinder finder(place);
  const std::string_view clean = WithoutByteOrderMark(text);
  if (LooksLikeJson(clean)) {
    WalkJson(clean, finder);
  } else {
    WalkYaml(clean, finder);
  }
  return finder.line();
}

std::string WithLine(const std::vector<Source>& sources, const std::string& message) {
  const Source* named = nullptr;
  for (const Source& source : sources) {
    const bool longer = named == nullptr || source.name.size() > named->name.size();
    if (message.starts_with(source.name + ": ") && longer) named = &source;
  }
  if (named == nullptr) return message;
  const std::string_view rest = std::string_view(message).substr(named->name.size());
  const std::optional<ValuePlace> place = PlaceIn(rest);
  const auto line = place ? LineOf(named->text, *place) : std::nullopt;
  if (!line) return message;
  return named->name + ": line " + std::to_string(*line) + std::string(rest);
}

}  // namespace weft::manifest
