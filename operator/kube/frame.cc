#include "operator/kube/frame.h"

#include <array>
#include <optional>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"
#include "operator/manifest/protobuf.h"
#include "operator/manifest/served.h"
#include "operator/manifest/text_check.h"

namespace weft::kube {
namespace {

using Json = nlohmann::json;

constexpr const char* kInitialEventsEnd = "k8s.io/initial-events-end";
constexpr char kFirstTag = 0x0a;  // of a watch event in protobuf: field 1 (`type`)

Error Broken(std::string what) { return {ErrorKind::kTransient, std::move(what)}; }

std::string Text(const Json* object, const char* key) {
  return object == nullptr ? "" : api::TextAt(*object, key);
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

// Parses a text as plain JSON without our limits. The parser does not recurse, but code that walks
// its result does, so values nested deeper than our limit are dropped.
Json ParseAnything(const std::string& text) {
  constexpr int kDepth = 128;
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth < kDepth; };
  return Json::parse(text, shallow, /*allow_exceptions=*/false);
}

std::string Cleaned(std::string text) {
  while (const auto bad = FirstBadByte(text)) text[*bad] = '?';
  return text;
}

// Recursive, which is safe: ParseAnything limits the depth, and our protobuf types are not
// recursive.
Json Cleaned(const Json& value) {
  if (value.is_string()) return Cleaned(value.get<std::string>());
  Json clean = value;
  if (value.is_array()) {
    for (Json& item : clean) item = Cleaned(item);
  } else if (value.is_object()) {
    clean = Json::object();
    for (const auto& [key, member] : value.items()) clean[Cleaned(key)] = Cleaned(member);
  }
  return clean;
}

// The parts of an unreadable object that the API server controls: identity, phase and deletion, and
// node. Other parts are dropped.
ServedObject Unreadable(const Json& object, std::string why) {
  ServedObject served{api::KeyOf(object), Json::object(), std::move(why)};
  const auto keep = [&served](const Json* from, const char* part, const char* key) {
    const Json* value = from == nullptr ? nullptr : api::FindMember(*from, key);
    if (value != nullptr) served.json[part][key] = Cleaned(*value);
  };
  const Json* meta = api::FindMember(object, "metadata");
  for (const char* key :
       {"name", "namespace", "uid", "resourceVersion", "generation", "labels", "creationTimestamp",
        "deletionTimestamp", "finalizers", "ownerReferences"}) {
    keep(meta, "metadata", key);
  }
  keep(api::FindMember(object, "spec"), "spec", "nodeName");
  if (const Json* status = api::FindMember(object, "status"))
    served.json["status"] = Cleaned(*status);
  return served;
}

Result<WatchEvent> Bookmark(const Json& object) {
  WatchEvent event;
  event.type = EventType::kBookmark;
  const Json* meta = api::FindMember(object, "metadata");
  event.resource_version = Text(meta, "resourceVersion");
  if (event.resource_version.empty()) return Broken("a bookmark without a resourceVersion");
  const Json* annotations = meta == nullptr ? nullptr : api::FindMember(*meta, "annotations");
  event.initial_events_end = Text(annotations, kInitialEventsEnd) == "true";
  return event;
}

Result<WatchEvent> ServerError(const Json& object) {
  WatchEvent event;
  event.type = EventType::kError;
  const Json* code = api::FindMember(object, "code");
  if (code != nullptr && code->is_number_integer()) event.code = code->get<int>();
  event.message = manifest::ForMessage(Text(&object, "message"));
  return event;
}

// `why`: why our limits refuse the object; "" if they do not.
Result<WatchEvent> Change(EventType type, Json object, const std::string& why) {
  WatchEvent result;
  result.type = type;
  result.resource_version = Text(api::FindMember(object, "metadata"), "resourceVersion");
  result.object = why.empty() ? ServedObject{api::KeyOf(object), std::move(object), ""}
                              : Unreadable(object, why);
  if (result.object.key.name.empty() || result.resource_version.empty()) {
    return Broken("a watch event whose object has no name or no resourceVersion");
  }
  return result;
}

// `event` is the parsed `line`. If it could only be read as plain JSON, `why` is the reason.
Result<WatchEvent> ToEvent(const std::string& line, Json event, const std::string& why) {
  const std::optional<EventType> type = TypeOf(Text(&event, "type"));
  const Json* object = api::FindMember(event, "object");
  if (!type || object == nullptr || !object->is_object()) return Broken("not a watch event");
  if (*type == EventType::kError) return ServerError(*object);
  if (*type == EventType::kBookmark) {
    // The rules of its kind may have dropped the annotations.
    const Json whole = ParseAnything(line);
    return Bookmark(whole["object"]);
  }
  return Change(*type, std::move(event["object"]), why);
}

Result<WatchEvent> ParseWatchLine(const std::string& line, manifest::Subject subject) {
  Result<Json> read = manifest::ReadServed("watch event", line, subject);
  if (read) return ToEvent(line, std::move(*read), "");
  Json anything = ParseAnything(line);
  if (anything.is_discarded()) return Broken(read.error().message);
  return ToEvent(line, std::move(anything), read.error().message);
}

// A protobuf message as JSON; nothing if the bytes are not such a message. Sets `why` if it has bad
// text.
std::optional<Json> FromProtobuf(std::string_view bytes, manifest::Message message,
                                 std::string* why = nullptr) {
  Json json;
  bool clean = true;
  if (!manifest::ReadProtobuf(bytes, message, json, clean)) return std::nullopt;
  if (!clean && why != nullptr) *why = "not UTF-8, or a NUL byte";
  return json;
}

// The kind's name and the contents of an envelope.
std::optional<std::pair<std::string, std::string>> Open(std::string_view bytes) {
  if (!bytes.starts_with(manifest::kProtobufMagic)) return std::nullopt;
  bytes.remove_prefix(manifest::kProtobufMagic.size());
  const auto envelope = FromProtobuf(bytes, manifest::Message::kEnvelope);
  if (!envelope) return std::nullopt;
  return std::pair(Text(api::FindMember(*envelope, "typeMeta"), "kind"), Text(&*envelope, "raw"));
}

std::optional<manifest::Message> MessageOf(manifest::Subject subject) {
  if (subject == manifest::Subject::kNode) return manifest::Message::kNode;
  if (subject == manifest::Subject::kPod) return manifest::Message::kPod;
  return std::nullopt;
}

Result<WatchEvent> ParseWatchMessage(std::string_view frame, manifest::Subject subject) {
  using manifest::Message;
  const Error broken = Broken("not a watch event");
  const auto event = FromProtobuf(frame, Message::kWatchEvent);
  const auto type = event ? TypeOf(Text(&*event, "type")) : std::nullopt;
  const auto envelope = type ? Open(Text(api::FindMember(*event, "object"), "raw")) : std::nullopt;
  if (!envelope) return broken;
  const auto message = *type == EventType::kError      ? std::optional(Message::kStatus)
                       : *type == EventType::kBookmark ? std::optional(Message::kObject)
                                                       : MessageOf(subject);
  std::string why;
  auto object = message ? FromProtobuf(envelope->second, *message, &why) : std::nullopt;
  if (!object) return broken;
  if (*type == EventType::kError) return ServerError(*object);
  if (*type == EventType::kBookmark) return Bookmark(*object);
  return Change(*type, *std::move(object), why);
}

Result<Page> ParseMessagePage(const std::string& body, manifest::Subject subject) {
  const Error broken = Broken("not a list");
  const auto envelope = Open(body);
  const auto message = MessageOf(subject);
  const auto list =
      envelope ? FromProtobuf(envelope->second, manifest::Message::kList) : std::nullopt;
  if (!message || !list) return broken;
  const Json* meta = api::FindMember(*list, "metadata");
  Page page{{}, Text(meta, "resourceVersion"), Text(meta, "continue")};
  if (page.resource_version.empty()) return broken;
  const Json* items = api::FindMember(*list, "items");
  if (items == nullptr) return page;
  for (const Json& item : *items) {
    std::string why;
    auto object = FromProtobuf(item.get_ref<const std::string&>(), *message, &why);
    if (!object || api::KeyOf(*object).name.empty())
      return Broken("a list with an item without a name");
    page.items.push_back(why.empty() ? ServedObject{api::KeyOf(*object), *std::move(object), ""}
                                     : Unreadable(*object, why));
  }
  return page;
}

Status FillItems(Json list, const std::string& why, manifest::Subject subject, Page& page) {
  for (Json& item : list["items"]) {
    ServedObject served{api::KeyOf(item), Json(), ""};
    if (served.key.name.empty()) return Broken("a list with an item without a name");
    if (why.empty()) {
      served.json = std::move(item);
    } else {
      // An item of the list is refused: each item is read alone to find out which.
      const std::string name = api::Show(served.key);
      Result<Json> again =
          manifest::ReadServed(name, api::JsonText(Json{{"object", item}}), subject);
      if (again) served.json = std::move((*again)["object"]);
      if (!again) served = Unreadable(item, again.error().message);
    }
    page.items.push_back(std::move(served));
  }
  return {};
}

}  // namespace

const char* AcceptOf(manifest::Subject subject) {
  return MessageOf(subject) ? "application/vnd.kubernetes.protobuf, application/json"
                            : "application/json";
}

FrameSplitter::Fed FrameSplitter::Feed(std::string_view chunk, const Take& take) {
  if (chunk.empty()) return Fed::kAll;
  if (!lines_) lines_ = chunk.front() > 1;
  return *lines_ ? FeedLines(chunk, take) : FeedMessages(chunk, take);
}

FrameSplitter::Fed FrameSplitter::FeedLines(std::string_view chunk, const Take& take) {
  while (!chunk.empty()) {
    const std::size_t end = chunk.find('\n');
    const std::string_view piece = chunk.substr(0, end);
    if (frame_.size() + piece.size() > longest_) return Fed::kTooLong;
    frame_ += piece;
    if (end == std::string_view::npos) break;
    chunk.remove_prefix(end + 1);
    const bool go_on = frame_.empty() || take(frame_);
    frame_.clear();
    if (!go_on) return Fed::kStopped;
  }
  return Fed::kAll;
}

FrameSplitter::Fed FrameSplitter::FeedMessages(std::string_view chunk, const Take& take) {
  constexpr std::size_t kLengthBytes = 4;
  while (!chunk.empty()) {
    if (length_.size() < kLengthBytes) {
      length_ += chunk.front();
      chunk.remove_prefix(1);
      continue;
    }
    std::size_t length = 0;
    for (const char byte : length_) length = length << 8 | static_cast<unsigned char>(byte);
    if (length > longest_) return Fed::kTooLong;
    const std::string_view piece = chunk.substr(0, length - frame_.size());
    frame_ += piece;
    chunk.remove_prefix(piece.size());
    if (frame_.size() < length) break;
    const bool go_on = frame_.empty() || take(frame_);
    frame_.clear();
    length_.clear();
    if (!go_on) return Fed::kStopped;
  }
  return Fed::kAll;
}

// The first byte of a protobuf message is a field's tag, never a bracket.
Result<WatchEvent> ParseWatchFrame(const std::string& frame, manifest::Subject subject) {
  const bool message = !frame.empty() && frame.front() == kFirstTag;
  return message ? ParseWatchMessage(frame, subject) : ParseWatchLine(frame, subject);
}

Result<Page> ParsePage(const std::string& body, manifest::Subject subject) {
  if (body.starts_with(manifest::kProtobufMagic)) return ParseMessagePage(body, subject);
  Result<Json> read = manifest::ReadServed("list", body, subject);
  const std::string why = read ? "" : read.error().message;
  Json list = read ? std::move(*read) : ParseAnything(body);
  if (list.is_discarded()) return Broken(why);
  const Json* meta = api::FindMember(list, "metadata");
  Page page{{}, Text(meta, "resourceVersion"), Text(meta, "continue")};
  const Json* items = api::FindMember(list, "items");
  if (page.resource_version.empty() || items == nullptr) return Broken("not a list");
  if (items->is_null()) return page;  // Go writes an empty list as null
  if (!items->is_array()) return Broken("not a list");
  if (Status filled = FillItems(std::move(list), why, subject, page); !filled) {
    return filled.error();
  }
  return page;
}

std::string StatusMessage(const std::string& body) {
  const auto envelope = Open(body);
  const auto message =
      envelope ? FromProtobuf(envelope->second, manifest::Message::kStatus) : std::nullopt;
  const Json status = message ? *message : ParseAnything(body);
  return manifest::ForMessage(Text(&status, "message"));
}

}  // namespace weft::kube
