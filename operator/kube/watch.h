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
  kWatching,       // changes from the last resourceVersion on
};

// Keeps a copy of one resource: which request comes next, and what its answer means. Pure; the
// reflector carries the requests out.
//
//   for (;;) {
//     step = watch.Next();
//     kWait: wait. kReadPage: OnPage with what came, or OnEnd. kFollow: OnEvent a line, then OnEnd.
//   }
//
// Lists are read without a resourceVersion: the server makes sure they are not older than the
// moment of the request, so that a restart never goes back in time. A failed page is asked for
// again, a streamed list starts anew.
//
// A dead peer. TCP says nothing about one for a quarter of an hour, and a server has nothing to say
// about a quiet resource for a minute (its bookmarks). So each watch asks for 14 to 17 seconds
// only: the server then sends a bookmark, if it has news, ends the answer properly and keeps the
// connection, and the next watch goes on where this one was. A healthy stream is thus never silent
// for longer, and silence for 21 seconds, by the transport's timer, means that it is dead. That is
// exact (a live stream is never cut, no change is missed) and costs a quiet resource one cheap
// request in 15 seconds, without a second connection to probe with. A streamed list, which is ended
// as soon as it is complete, may take minutes and be silent for one.
//
// Failures. 410, as a status or inside a stream: list again. Another error inside a stream, or a
// request refused as wrong: list again, since the same watch would fail again. No answer, 401, 403,
// 429: the same again; 5xx, of which "too large resource version" is one: the same, and a list
// after three in a row. All after a back-off, of which the request itself is a part.
// Thread-safety  none.
class Watch {
 public:
  struct Options {
    std::string path;                          // "/api/v1/pods"
    std::map<std::string, std::string> query;  // selectors
    int page_limit = 500;
    std::uint64_t seed = 0;  // of back-off and timeouts; another for each process
    // Less than the usual half a minute: what was lost in an outage is known again within 30 s.
    Backoff::Options backoff{.longest = Millis{15'000}};
  };
  explicit Watch(Options options);

  struct Step {
    enum class Kind : std::uint8_t { kWait, kReadPage, kFollow };
    Kind kind = Kind::kWait;
    Millis wait{0};
    Request request;
    bool begins_list = false;  // earlier pages of the list are void
  };
  Step Next(Instant now);

  enum class Meaning : std::uint8_t {
    kChange,  // of one object
    kNothing,
    kListed,  // the list is complete; end the stream
    kFailed,  // end the stream
  };
  Meaning OnEvent(const WatchEvent& event, Instant now);
  // True where the list is complete.
  bool OnPage(const Page& page, Instant now);

  // How a request ended, if not by a page.
  struct End {
    int status = 0;  // HTTP; 0: no answer, or one that broke off
    std::optional<Millis> retry_after;
    bool malformed = false;  // something came that is no JSON of an API server
  };
  // False where that was a failure.
  bool OnEnd(const End& end, Instant now);

  WatchState state() const { return state_; }
  // Of the copy; "" before the first list is complete.
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
  int unfinished_streams_ = 0;  // lists in a row that ended before they were complete
  std::string next_page_;
  int page_limit_;
  int server_failures_ = 0;  // of watches, in a row

  // of the stream that runs
  Instant opened_{};
  bool anything_came_ = false;
  bool just_listed_ = false;
  std::optional<int> error_code_;
};

}  // namespace weft::kube
