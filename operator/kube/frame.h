#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/meta.h"
#include "operator/base/result.h"
#include "operator/manifest/keep_rules.h"

namespace weft::kube {

// The Accept header of a request. Nodes and Pods are asked for in protobuf, which costs an API
// server a third of JSON; a proxy may still answer in JSON.
const char* AcceptOf(manifest::Subject subject);

// Splits a stream into frames: lines of JSON, or protobuf messages, each after a length of
// four bytes, high byte first. The first byte of the stream tells which: a length never
// begins with a byte above one. A frame that is incomplete when the connection breaks is
// dropped.
// Thread-safety  none.
class FrameSplitter {
 public:
  // etcd stores at most 1.5 MiB; in the worst case JSON writes a byte as the six bytes \u00xx.
  static constexpr std::size_t kLongestFrame = std::size_t{16} << 20;
  explicit FrameSplitter(std::size_t longest = kLongestFrame) : longest_(longest) {}

  enum class Fed : std::uint8_t { kAll, kStopped, kTooLong };
  // Receives each complete frame without its line end or length, never empty; returns false to
  // stop.
  using Take = std::function<bool(const std::string& frame)>;
  Fed Feed(std::string_view chunk, const Take& take);

 private:
  Fed FeedLines(std::string_view chunk, const Take& take);
  Fed FeedMessages(std::string_view chunk, const Take& take);

  std::size_t longest_;
  std::optional<bool> lines_;  // known from the first byte on
  std::string length_;         // received part of the next length
  std::string frame_;
};

// An object from the API server, reduced to the parts that Weft keeps.
struct ServedObject {
  api::ObjectKey key;
  // The object. If `unreadable` is set, it has only parts that the API server controls: metadata
  // without annotations, spec.nodeName and status, with '?' instead of bytes that our limits
  // refuse.
  nlohmann::json json;
  // Why our limits refuse the other fields; "" if they do not. One such object must not stop the
  // others.
  std::string unreadable;
};

enum class EventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

// One frame of a watch.
struct WatchEvent {
  EventType type = EventType::kAdded;
  ServedObject object;              // kAdded, kModified, kDeleted
  std::string resource_version;     // for all types except kError
  bool initial_events_end = false;  // kBookmark: the streamed list is complete
  int code = 0;                     // kError: an HTTP status
  std::string message;              // kError
};

// One page of a list; `next` is the token of the next page, "" on the last one.
struct Page {
  std::vector<ServedObject> items;
  std::string resource_version;
  std::string next;
};

// These functions turn answers of the API server, in JSON or protobuf, into values. Pure. They keep
// what keep_rules.h keeps of `subject`. Only Nodes, Pods and Statuses are read in protobuf.
//
// Errors  kTransient: the frame or answer is neither format, so it is broken and worth another try.
//         An object that only our limits refuse is `unreadable` instead.
// Cost    linear; 20 us for a Pod of 4 kB.
Result<WatchEvent> ParseWatchFrame(const std::string& frame, manifest::Subject subject);
Result<Page> ParsePage(const std::string& body, manifest::Subject subject);
// The message of a Status, for the log; "" for any other object.
std::string StatusMessage(const std::string& body);

}  // namespace weft::kube
