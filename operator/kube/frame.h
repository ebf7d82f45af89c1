#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/kinds.h"
#include "operator/base/result.h"
#include "operator/manifest/keep_rules.h"

namespace weft::kube {

// The header Accept of a request: an API server writes Nodes and Pods in protobuf for a third of
// the cost of JSON; a proxy may still answer in JSON.
const char* AcceptOf(manifest::Subject subject);

// Cuts a stream's pieces into frames: lines of JSON, or protobuf with four bytes of length, high
// byte first, before each. The first byte tells which, since no length begins with a byte
// above one. A frame that never ends (the connection broke inside it) is never handed
// out.
// Thread-safety  none.
class FrameSplitter {
 public:
  // etcd takes 1.5 MiB; JSON spells a byte as \u00xx, six bytes, at worst.
  static constexpr std::size_t kLongestFrame = std::size_t{16} << 20;
  explicit FrameSplitter(std::size_t longest = kLongestFrame) : longest_(longest) {}

  enum class Fed : std::uint8_t { kAll, kStopped, kTooLong };
  // Each complete frame, without its end or length and never empty, to `take` until that returns
  // false.
  using Take = std::function<bool(const std::string& frame)>;
  Fed Feed(std::string_view chunk, const Take& take);

 private:
  Fed FeedLines(std::string_view chunk, const Take& take);
  Fed FeedMessages(std::string_view chunk, const Take& take);

  std::size_t longest_;
  std::optional<bool> lines_;  // from the first byte on
  std::string length_;         // received part of the next length
  std::string frame_;
};

// An object as the API server sent it, with what Weft keeps of it.
struct ServedObject {
  api::ObjectKey key;
  // Where `unreadable`, only the parts of it that the API server itself keeps: metadata without
  // annotations, spec.nodeName and status, with '?' in the place of bytes that our guards refuse.
  nlohmann::json json;
  // Why our guards refuse the other fields, "" if not: one such object must not stop the others.
  std::string unreadable;
};

enum class EventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

// One frame of a watch.
struct WatchEvent {
  EventType type = EventType::kAdded;
  ServedObject object;              // kAdded, kModified, kDeleted
  std::string resource_version;     // all but kError
  bool initial_events_end = false;  // kBookmark: the streamed list is complete
  int code = 0;                     // kError: as an HTTP status
  std::string message;              // kError
};

// One page of a list; `next` is the token of the page behind it, "" on the last.
struct Page {
  std::vector<ServedObject> items;
  std::string resource_version;
  std::string next;
};

// Pure: what the API server sends, JSON or its protobuf, to values; what keep_rules.h drops of
// `subject` is dropped. Protobuf is read of Nodes, Pods and Statuses alone.
//
// Errors  kTransient: neither of them; the stream or the answer is broken and is worth another
//         try. An object that only our guards refuse is `unreadable` instead.
// Cost    linear; 20 us for a Pod of 4 kB.
Result<WatchEvent> ParseWatchFrame(const std::string& frame, manifest::Subject subject);
Result<Page> ParsePage(const std::string& body, manifest::Subject subject);
// The message of a Status, for the log; "" of anything else.
std::string StatusMessage(const std::string& body);

}  // namespace weft::kube
