#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "operator/api/meta.h"
#include "operator/base/random.h"
#include "operator/kube/timer.h"

namespace weft::kube {

// A note about one object that is to be written as an event.
struct EventNote {
  std::string api_version, kind;  // of the object
  api::ObjectKey key;
  std::string uid;
  bool warning = false;
  std::string reason;  // "PlacementFailed"; at most 128 bytes are kept
  std::string action;  // what the operator did: "Planning"; at most 128 bytes are kept
  std::string note;    // a sentence; at most 1,024 bytes are kept
};

// Turns notes into objects of events.k8s.io/v1, and limits their number. Pure.
//
// The same note about the same object is one event with a count. It is written the first and the
// second time, then at most once a minute, and forgotten ten minutes after its last note. A new
// event takes a token from the object's bucket of 25 tokens, which gets one token in five minutes
// (as in client-go), so an object whose note changes in every pass cannot flood the API server. The
// series remembers the latest 4,096 events and as many objects; the last count of a forgotten event
// may stay unwritten.
// Thread-safety  none.
class EventSeries {
 public:
  struct Options {
    std::string instance;    // names this process: its pod's name
    std::uint64_t seed = 0;  // of event names; different in each process
    std::size_t remembered = 4'096;
  };
  explicit EventSeries(Options options);

  // A write of the event `key`: a create (POST), or a merge patch of its count.
  struct Write {
    bool creates = false;
    api::ObjectKey key;
    std::string body;

    friend bool operator==(const Write&, const Write&) = default;
  };
  // The write for a note; nothing if the note is only counted or exceeds the rate.
  std::optional<Write> Add(const EventNote& note, Instant now, WallMicros wall);
  // The writes of counts that are due.
  std::vector<Write> Flush(Instant now);
  // To be called if the event does not exist (any more): the next equal note then creates a new
  // one.
  void Erase(const api::ObjectKey& event);

  // How many notes found no token.
  std::uint64_t limited() const { return limited_; }

 private:
  using Alike = std::tuple<std::string, bool, std::string, std::string, std::string>;
  struct Series {
    api::ObjectKey key;
    std::int64_t count = 1;
    WallMicros last{};
    Instant seen{}, written{};
    bool due = false;  // counted since it was written
  };
  struct Bucket {
    double tokens = 0;
    Instant filled{};
  };

  bool TakeToken(const std::string& object, Instant now);
  Write CountOf(Series& series, Instant now);
  std::string Create(const EventNote& note, const api::ObjectKey& key, WallMicros wall) const;
  api::ObjectKey NewKey(const EventNote& note);

  Options options_;
  SplitMix64 random_;
  std::map<Alike, Series> series_;
  std::map<std::string, Bucket> buckets_;
  std::uint64_t limited_ = 0;
};

}  // namespace weft::kube
