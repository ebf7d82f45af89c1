#include "operator/kube/watch.h"

#include "operator/base/seeded_bug.h"
#include "operator/kube/status_code.h"

#include <algorithm>
#include <utility>

namespace weft::kube {
namespace {

constexpr int kLeastListSeconds = 300, kMostListSeconds = 600;
constexpr int kLeastWatchSeconds = 14, kMostWatchSeconds = 17;
constexpr Millis kListSilence{60'000};
constexpr Millis kWatchSilence{21'000};  // above kMostWatchSeconds; recovery within 30 s
constexpr Millis kShortestPause{500};
// If a watch ends sooner without any event, something between this client and the server is at
// fault.
constexpr Millis kShortestWatch{1'000};
// Objects of a page: as many as in client-go, and twice as many each time that a list expires
// before its last page, up to the largest.
constexpr int kFirstPage = 500, kLargestPage = 4'000;
constexpr int kPatience = 3;
constexpr unsigned kSkipped = 3;  // of Bug::kResumeSkips

bool IsSuccess(int status) { return status >= 200 && status < 300; }
bool IsServerFailure(int status) { return status >= 500; }
// Whether the status is a 4xx that means an invalid request.
bool IsRefusal(int status) {
  return status >= 400 && status < 500 && status != kUnauthorized && status != kForbidden &&
         status != kNotFound && status != kGone && status != kTooManyRequests;
}

}  // namespace

Watch::Watch(Options options)
    : options_(std::move(options)),
      random_(options_.seed),
      backoff_(options_.backoff, random_.Next()),
      page_limit_(kFirstPage) {}

std::string Watch::Between(int least, int most) {
  const auto count = static_cast<std::uint64_t>(most - least) + 1;
  return std::to_string(least + static_cast<int>(random_.Below(count)));
}

Request Watch::NewRequest(Millis longest_silence) const {
  Request request;
  request.path = options_.path;
  request.query = options_.query;
  request.timeout = longest_silence;
  return request;
}

Request Watch::StreamingListRequest() {
  Request request = NewRequest(kListSilence);
  request.query["watch"] = "true";
  request.query["sendInitialEvents"] = "true";
  if (Seeded(Bug::kListAtZero)) request.query["resourceVersion"] = "0";
  request.query["resourceVersionMatch"] = "NotOlderThan";
  request.query["allowWatchBookmarks"] = "true";
  request.query["timeoutSeconds"] = Between(kLeastListSeconds, kMostListSeconds);
  return request;
}

Request Watch::PageRequest() const {
  Request request = NewRequest(kListSilence);
  request.query["limit"] = std::to_string(page_limit_);
  if (!next_page_.empty()) request.query["continue"] = next_page_;
  return request;
}

Request Watch::WatchRequest() {
  Request request = NewRequest(kWatchSilence);
  request.query["watch"] = "true";
  request.query["resourceVersion"] = resource_version_;
  if (Seeded(Bug::kResumeSkips)) {
    request.query["resourceVersion"] = std::to_string(std::stoull(resource_version_) + kSkipped);
  }
  request.query["allowWatchBookmarks"] = "true";
  request.query["timeoutSeconds"] = Between(kLeastWatchSeconds, kMostWatchSeconds);
  return request;
}

Watch::Action Watch::Next(Instant now) {
  using Kind = Action::Kind;
  if (wait_) return {Kind::kWait, *std::exchange(wait_, std::nullopt), {}, false};
  opened_ = now;
  anything_came_ = just_listed_ = false;
  error_code_.reset();
  const bool begins = std::exchange(begins_list_, false);
  switch (state_) {
    case WatchState::kStreamingList:
      return {Kind::kFollow, {}, StreamingListRequest(), true};
    case WatchState::kPagedList:
      return {Kind::kReadPage, {}, PageRequest(), begins};
    case WatchState::kWatching:
      break;
  }
  return {Kind::kFollow, {}, WatchRequest(), false};
}

void Watch::StartList() {
  state_ = streaming_refused_ ? WatchState::kPagedList : WatchState::kStreamingList;
  begins_list_ = true;
  next_page_.clear();
}

void Watch::Listed(const std::string& resource_version) {
  state_ = WatchState::kWatching;
  resource_version_ = resource_version;
  unfinished_streams_ = server_failures_ = 0;
  page_limit_ = kFirstPage;
  just_listed_ = true;
}

Watch::Meaning Watch::OnEvent(const WatchEvent& event, Instant now) {
  if (event.type == EventType::kError) {
    error_code_ = event.code;
    return Meaning::kFailed;
  }
  anything_came_ = true;
  backoff_.Succeeded(now);
  const bool is_bookmark = event.type == EventType::kBookmark;
  if (state_ == WatchState::kStreamingList) {
    if (!is_bookmark) return Meaning::kChange;
    if (!event.initial_events_end) return Meaning::kNothing;
    Listed(event.resource_version);
    return Meaning::kListed;
  }
  server_failures_ = 0;
  resource_version_ = event.resource_version;
  return is_bookmark ? Meaning::kNothing : Meaning::kChange;
}

bool Watch::OnPage(const Page& page, Instant now) {
  backoff_.Succeeded(now);
  next_page_ = page.next;
  if (!next_page_.empty()) return false;
  Listed(page.resource_version);
  return true;
}

bool Watch::OnEnd(const End& end, Instant now) {
  if (just_listed_) return true;
  switch (state_) {
    case WatchState::kStreamingList:
      return EndOfStreamingList(end, now);
    case WatchState::kPagedList:
      return EndOfPage(end, now);
    case WatchState::kWatching:
      break;
  }
  return EndOfWatch(end, now);
}

// The time of the request counts as waiting: after a stream that was silent until it was declared
// dead, the next one may begin at once.
bool Watch::Fail(const End& end, Instant now) {
  Millis wait = backoff_.Failed(now, end.retry_after);
  if (!end.retry_after) {
    const auto took = std::chrono::duration_cast<Millis>(now - opened_);
    wait = std::min(wait, std::max(wait - took, kShortestPause));
  }
  wait_ = wait;
  return false;
}

bool Watch::FailAndList(const End& end, Instant now) {
  StartList();
  return Fail(end, now);
}

// A server that cannot stream a list reports it immediately: by the status, or in the first event.
bool Watch::EndOfStreamingList(const End& end, Instant now) {
  const bool refused_inside = error_code_ && !anything_came_ && *error_code_ != kTooManyRequests;
  if (IsRefusal(end.status) || refused_inside) {
    // An error inside the stream may be temporary; a status means that the server does not know the
    // request.
    streaming_refused_ = streaming_refused_ || !refused_inside;
    StartList();
    state_ = WatchState::kPagedList;
    return true;
  }
  StartList();
  if (IsSuccess(end.status) && ++unfinished_streams_ >= kPatience) {
    unfinished_streams_ = 0;
    state_ = WatchState::kPagedList;
  }
  return Fail(end, now);
}

bool Watch::EndOfPage(const End& end, Instant now) {
  if (end.status == kGone || IsRefusal(end.status)) {
    // The list took longer than the server keeps old versions, so the next one uses fewer, larger
    // pages.
    if (end.status == kGone) page_limit_ = std::min(2 * page_limit_, kLargestPage);
    begins_list_ = true;
    next_page_.clear();
  }
  return Fail(end, now);
}

bool Watch::EndOfWatch(const End& end, Instant now) {
  if (Seeded(Bug::kGoneIgnored) && (error_code_ || end.status == kGone)) {
    resource_version_.clear();
    return Fail(end, now);
  }
  if (error_code_ || end.malformed || end.status == kGone || end.status == kNotFound ||
      IsRefusal(end.status)) {
    return FailAndList(end, now);
  }
  if (IsServerFailure(end.status) && ++server_failures_ >= kPatience) {
    return FailAndList(end, now);
  }
  if (!IsSuccess(end.status)) return Fail(end, now);
  if (anything_came_ || now - opened_ >= kShortestWatch) {
    backoff_.Succeeded(now);
    return true;
  }
  return Fail(end, now);
}

}  // namespace weft::kube
