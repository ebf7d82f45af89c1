#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "operator/base/random.h"
#include "operator/kube/backoff.h"
#include "operator/kube/frame.h"
#include "operator/kube/transport.h"

namespace weft::kube {

enum class WatchState : std::uint8_t {
  kStreamingList,  // a watch that first sends all objects, then a bookmark
  kPagedList,      // pages of LIST, if the server refuses kStreamingList
  kWatching,       // changes since the last resourceVersion
};

// The protocol that keeps a copy of one resource: which request is next, and what its answer means.
// Pure; the reflector sends the requests.
//
//   for (;;) {
//     step = watch.Next();
//     kWait: wait. kReadPage: OnPage, or OnEnd. kFollow: OnEvent for each event, then OnEnd.
//   }
//
// Lists are read without a resourceVersion: the server then ensures that they are not older than
// the request, so a restart never goes back in time. A failed page is requested again; a failed
// streamed list starts again from its beginning.
//
// A dead peer. TCP may take a quarter of an hour to report one, and a healthy server may send
// nothing about a quiet resource for a minute (the interval of bookmarks). So each watch asks for
// only 14 to 17 seconds. The server then sends a bookmark if there is news, ends the answer
// properly and keeps the connection; the next watch continues from there. A healthy stream is never
// silent for longer, so after 21 seconds of silence, by the transport's timer, the peer is dead. A
// live stream is never cut, and no change is missed. A quiet resource costs one cheap request in 15
// seconds, and no second connection is needed to probe the server. A streamed list ends when it is
// complete; it may take minutes, with up to a minute of silence.
//
// Failures. After 410, as a status or inside a stream, the next request is a list. The same holds
// for any other error inside a stream and for a request refused as invalid, because the same watch
// would fail again. After no answer, 401, 403 or 429, the same request is repeated. After 5xx ("too
// large resource version" is one) it is repeated too; after three in a row a list follows. Each
// repetition waits for a back-off, which includes the time of the request.
// Thread-safety  none.
class Watch {
 public:
  struct Options {
    std::string path;                          // "/api/v1/pods"
    std::map<std::string, std::string> query;  // selectors
    std::uint64_t seed = 0;  // of back-off and timeouts; different in each process
    // Shorter than the usual half a minute, so that the copy is up to date within 30 s after an
    // outage.
    Backoff::Options backoff{.longest = Millis{15'000}};
  };
  explicit Watch(Options options);

  struct Action {
    enum class Kind : std::uint8_t { kWait, kReadPage, kFollow };
    Kind kind = Kind::kWait;
    Millis wait{0};
    Request request;
    bool begins_list = false;  // discard earlier pages of the list
  };
  Action Next(Instant now);

  enum class Meaning : std::uint8_t {
    kChange,  // a change of one object
    kNothing,
    kListed,  // the list is complete; end the stream
    kFailed,  // end the stream
  };
  Meaning OnEvent(const WatchEvent& event, Instant now);
  // Returns true if the list is complete.
  bool OnPage(const Page& page, Instant now);

  // How a request ended, other than with a page.
  struct End {
    int status = 0;  // HTTP; 0: no answer, or an incomplete one
    std::optional<Millis> retry_after;
    bool malformed = false;  // the answer is not valid JSON of an API server
  };
  // Returns false if the request failed.
  bool OnEnd(const End& end, Instant now);

  WatchState state() const { return state_; }
  // The resourceVersion of the copy; "" before the first list is complete.
  const std::string& resource_version() const { return resource_version_; }

 private:
  Request NewRequest(Millis longest_silence) const;
  Request StreamingListRequest();
  Request PageRequest() const;
  Request WatchRequest();
  std::string Between(int least, int most);

  bool EndOfStreamingList(const End& end, Instant now);
  bool EndOfPage(const End& end, Instant now);
  bool EndOfWatch(const End& end, Instant now);
  bool Fail(const End& end, Instant now);
  bool FailAndList(const End& end, Instant now);
  void StartList();
  void Listed(const std::string& resource_version);

  Options options_;
  SplitMix64 random_;
  Backoff backoff_;
  WatchState state_ = WatchState::kStreamingList;
  std::string resource_version_;
  std::optional<Millis> wait_;
  bool begins_list_ = true;

  bool streaming_refused_ = false;
  int unfinished_streams_ = 0;  // consecutive lists that ended incomplete
  std::string next_page_;
  int page_limit_;
  int server_failures_ = 0;  // consecutive, of watches

  // when the current stream was opened
  Instant opened_{};
  bool anything_came_ = false;
  bool just_listed_ = false;
  std::optional<int> error_code_;
};

}  // namespace weft::kube
