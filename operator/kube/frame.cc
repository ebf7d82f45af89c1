#include "operator/kube/frame.h"

#include <array>
#include <optional>

#include "operator/manifest/served.h"
#include "operator/manifest/text_check.h"

namespace weft::kube {
namespace {

using Json = nlohmann::json;

constexpr const char* kInitialEventsEnd = "k8s.io/initial-events-end";

Error Broken(std::string what) { return {ErrorKind::kTransient, std::move(what)}; }

const Json* Find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string Text(const Json* object, const char* key) {
  const Json* found = object == nullptr ? nullptr : Find(*object, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

std::optional<EventType> TypeOf(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, EventType>, 5> kTypes = {
      {{"ADDED", EventType::kAdded},
       {"MODIFIED", EventType::kModified},
       {"DELETED", EventType::kDeleted},
       {"BOOKMARK", EventType::kBookmark},
       {"ERROR", EventType::kError}}};
  for (const auto& [text, type] : kTypes) {
    if (text == name) return type;
  }
  return std::nullopt;
}

// Text without our guards, as plain JSON. The parser does not recurse, what walks its result does:
// what is nested deeper than our guards allow is cut off below that.
Json ParseAnything(const std::string& text) {
  constexpr int kDepth = 128;
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth < kDepth; };
  return Json::parse(text, shallow, /*allow_exceptions=*/false);
}

api::ObjectKey KeyOf(const Json& object) {
  const Json* meta = Find(object, "metadata");
  return {Text(meta, "namespace"), Text(meta, "name")};
}

// What identifies an object that cannot be read. Nothing else of it is passed on.
ServedObject Unreadable(const Json& object, std::string why) {
  ServedObject served{KeyOf(object), Json::object(), std::move(why)};
  const Json* meta = Find(object, "metadata");
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "generation"}) {
    const Json* value = meta == nullptr ? nullptr : Find(*meta, key);
    if (value == nullptr || value->is_structured()) continue;
    served.json["metadata"][key] = *value;
  }
  return served;
}

Result<WatchEvent> Bookmark(const Json& object) {
  WatchEvent event;
  event.type = EventType::kBookmark;
  const Json* meta = Find(object, "metadata");
  event.resource_version = Text(meta, "resourceVersion");
  if (event.resource_version.empty()) return Broken("a bookmark without a resourceVersion");
  const Json* annotations = meta == nullptr ? nullptr : Find(*meta, "annotations");
  event.initial_events_end = Text(annotations, kInitialEventsEnd) == "true";
  return event;
}

Result<WatchEvent> ServerError(const Json& object) {
  WatchEvent event;
  event.type = EventType::kError;
  const Json* code = Find(object, "code");
  if (code != nullptr && code->is_number_integer()) event.code = code->get<int>();
  event.message = manifest::ForMessage(Text(&object, "message"));
  return event;
}

// `line` around `event` could be read, perhaps only as plain JSON (then `why` says why not).
Result<WatchEvent> ToEvent(const std::string& line, Json event, const std::string& why) {
  const std::optional<EventType> type = TypeOf(Text(&event, "type"));
  const Json* object = Find(event, "object");
  if (!type || object == nullptr || !object->is_object()) return Broken("not a watch event");
  if (*type == EventType::kError) return ServerError(*object);
  if (*type == EventType::kBookmark) {
    // Annotations may have been dropped by the rules of its kind.
    const Json whole = ParseAnything(line);
    return Bookmark(whole["object"]);
  }
  WatchEvent result;
  result.type = *type;
  result.resource_version = Text(Find(*object, "metadata"), "resourceVersion");
  result.object = why.empty() ? ServedObject{KeyOf(*object), std::move(event["object"]), ""}
                              : Unreadable(*object, why);
  if (result.object.key.name.empty() || result.resource_version.empty()) {
    return Broken("a watch event whose object has no name or no resourceVersion");
  }
  return result;
}

Status FillItems(Json list, const std::string& why, manifest::Subject subject, Page& page) {
  for (Json& item : list["items"]) {
    ServedObject served{KeyOf(item), Json(), ""};
    if (served.key.name.empty()) return Broken("a list with an item without a name");
    if (why.empty()) {
      served.json = std::move(item);
    } else {
      // One of the items is refused: each is read on its own to find out which.
      const std::string name = api::Show(served.key);
      Result<Json> again = manifest::ReadServed(name, Json{{"object", item}}.dump(), subject);
      if (again) served.json = std::move((*again)["object"]);
      if (!again) served = Unreadable(item, again.error().message);
    }
    page.items.push_back(std::move(served));
  }
  return {};
}

}  // namespace

LineSplitter::Fed LineSplitter::Feed(std::string_view chunk, const Take& take) {
  while (!chunk.empty()) {
    const std::size_t end = chunk.find('\n');
    const std::string_view piece = chunk.substr(0, end);
    if (line_.size() + piece.size() > longest_) return Fed::kTooLong;
    line_ += piece;
    if (end == std::string_view::npos) break;
    chunk.remove_prefix(end + 1);
    const bool go_on = line_.empty() || take(line_);
    line_.clear();
    if (!go_on) return Fed::kStopped;
  }
  return Fed::kAll;
}

Result<WatchEvent> ParseWatchLine(const std::string& line, manifest::Subject subject) {
  Result<Json> read = manifest::ReadServed("watch event", line, subject);
  if (read) return ToEvent(line, std::move(*read), "");
  Json anything = ParseAnything(line);
  if (anything.is_discarded()) return Broken(read.error().message);
  return ToEvent(line, std::move(anything), read.error().message);
}

Result<Page> ParsePage(const std::string& body, manifest::Subject subject) {
  Result<Json> read = manifest::ReadServed("list", body, subject);
  const std::string why = read ? "" : read.error().message;
  Json list = read ? std::move(*read) : ParseAnything(body);
  if (list.is_discarded()) return Broken(why);
  const Json* meta = Find(list, "metadata");
  Page page{{}, Text(meta, "resourceVersion"), Text(meta, "continue")};
  const Json* items = Find(list, "items");
  if (page.resource_version.empty() || items == nullptr) return Broken("not a list");
  if (items->is_null()) return page;  // an empty list of Go
  if (!items->is_array()) return Broken("not a list");
  if (Status filled = FillItems(std::move(list), why, subject, page); !filled) {
    return filled.error();
  }
  return page;
}

std::string StatusMessage(const std::string& body) {
  const Json status = ParseAnything(body);
  return manifest::ForMessage(Text(&status, "message"));
}

}  // namespace weft::kube
