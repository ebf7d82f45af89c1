#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "operator/api/kinds.h"
#include "operator/base/random.h"
#include "operator/kube/timer.h"

namespace weft::kube {

// A note about one object, to be written as an event.
struct EventNote {
  std::string api_version, kind;  // of the object
  api::ObjectKey key;
  std::string uid;
  bool warning = false;
  std::string reason;  // "PlacementFailed"; at most 128 bytes are kept
  std::string action;  // the action: "Planning"; at most 128 bytes
  std::string note;    // a sentence; at most 1,024 bytes are kept
};

// Turns notes into objects of events.k8s.io/v1, few of them. Pure.
//
// The same note about the same object is one event with a count: it is written when it happens the
// first and the second time, then at most once a minute, and forgotten after ten minutes without
// it. New events about one object take a token from a bucket that holds 25 and gets one in five
// minutes (as client-go's): an object whose note changes with every pass cannot flood anybody.
// Remembers the latest 4,096 events and as many objects; the last count of a forgotten event may
// stay unwritten.
// Thread-safety  none.
class EventSeries {
 public:
  struct Options {
    std::string controller = "weft.dev/operator";
    std::string instance;    // this process: a pod's name
    std::uint64_t seed = 0;  // of the names; another for each process
    int burst = 25;
    Millis refill{300'000};
    Millis rewrite{60'000};
    Millis forget{600'000};
    std::size_t remembered = 4'096;
  };
  explicit EventSeries(Options options);

  // A create (POST), or a merge patch of the count, of the event `key`.
  struct Write {
    bool creates = false;
    api::ObjectKey key;
    std::string body;

    friend bool operator==(const Write&, const Write&) = default;
  };
  // Nothing if the note is only counted, or exceeds the rate.
  std::optional<Write> Add(const EventNote& note, Instant now, WallMicros wall);
  // Counts that are due.
  std::vector<Write> Flush(Instant now);
  // The event is not there (any more): the next note of its kind writes a new one.
  void Forget(const api::ObjectKey& event);

  // Notes that found no token.
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
