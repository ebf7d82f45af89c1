#include "operator/kube/event_recorder.h"

#include <algorithm>
#include <utility>

#include "operator/kube/client.h"
#include "operator/kube/frame.h"
#include "operator/kube/status_code.h"

namespace weft::kube {
namespace {

constexpr Millis kPause{500};
constexpr int kWritesAtOnce = 10;
constexpr int kTries = 5;
constexpr Millis kTimeout{5'000};
constexpr Millis kFarewell{500};  // the release of the Lease waits for this

Request RequestOf(const EventSeries::Write& write) {
  Request request;
  request.method = write.creates ? Method::kPost : Method::kPatch;
  request.path = "/apis/events.k8s.io/v1/namespaces/" + write.key.space + "/events";
  if (!write.creates) request.path += "/" + write.key.name;
  request.content_type = write.creates ? "application/json" : "application/merge-patch+json";
  request.body = write.body;
  return request;
}

bool IsWorthAnotherTry(const Request& request, const Result<Response>& answer) {
  return !answer || answer->status >= 500 || answer->status == kTooManyRequests ||
         MetBusyQuota(request, *answer);
}

}  // namespace

EventRecorder::EventRecorder(Transport& transport, Options options)
    : transport_(transport),
      options_(std::move(options)),
      series_(options_.series),
      backoff_({}, options_.series.seed) {}

EventRecorder::~EventRecorder() { Stop(); }

void EventRecorder::Record(EventNote note) {
  const WallMicros wall = options_.timer->Wall();
  const std::lock_guard lock(mutex_);
  if (notes_.size() >= options_.queue) {
    ++dropped_;
    return;
  }
  notes_.emplace_back(std::move(note), wall);
}

void EventRecorder::Start() {
  thread_ = options_.executor->Start([this] { Run(); });
}

void EventRecorder::Cancel() {
  farewell_ends_ = std::min(farewell_ends_.load(), options_.timer->Now() + kFarewell);
  cancel_ = true;
  options_.timer->End();
}

void EventRecorder::Stop() {
  Cancel();
  if (thread_) thread_->Join();
  thread_.reset();
}

void EventRecorder::Run() {
  while (!cancel_) {
    Collect();
    WriteSome();
    if (!cancel_) options_.timer->Wait(kPause);
  }
  Collect();
  WriteRest();
}

// Notes stay in the bounded queue while writes are waiting, so writes are bounded too.
void EventRecorder::Collect() {
  const Instant now = options_.timer->Now();
  while (pending_.size() < options_.queue) {
    std::pair<EventNote, WallMicros> next;
    {
      const std::lock_guard lock(mutex_);
      if (notes_.empty()) break;
      next = std::move(notes_.front());
      notes_.pop_front();
    }
    if (auto write = series_.Add(next.first, now, next.second)) pending_.push_back({*write, 0});
  }
  for (EventSeries::Write& write : series_.Flush(now)) pending_.push_back({std::move(write), 0});
  dropped_ += series_.limited() - std::exchange(limited_, series_.limited());
}

void EventRecorder::WriteSome() {
  for (int i = 0; i < kWritesAtOnce && !pending_.empty() && !cancel_; ++i) {
    if (Send(pending_.front()) == Sent::kAgain) return;
    pending_.pop_front();
  }
}

void EventRecorder::WriteRest() {
  for (; !pending_.empty(); pending_.pop_front()) {
    if (Send(pending_.front()) == Sent::kDone) continue;
    dropped_ += pending_.size();
    return;
  }
}

Instant EventRecorder::Until() const {
  const Instant ours = options_.until ? options_.until() : Instant::max();
  return std::min(ours, farewell_ends_.load());
}

EventRecorder::Sent EventRecorder::Send(Pending& pending) {
  const EventSeries::Write& write = pending.write;
  Request request = RequestOf(write);
  request.until = [this] { return Until(); };
  if (!MaySend(request, options_.timer->Now())) {
    Drop(write, NotSent().message);
    return Sent::kDone;
  }
  request.timeout = kTimeout;
  const Result<Response> answer = transport_.Send(request);
  const Instant now = options_.timer->Now();
  if (IsWorthAnotherTry(request, answer)) {
    if (++pending.tries < kTries) {
      const Millis wait =
          backoff_.Failed(now, answer ? answer->retry_after : std::optional<Millis>());
      if (!cancel_) options_.timer->Wait(wait);
      return Sent::kAgain;
    }
    Drop(write, answer ? StatusMessage(answer->body) : answer.error().message);
    return Sent::kDone;
  }
  backoff_.Succeeded(now);
  // If a create reports that the event exists, it is ours, sent twice: the name is unique.
  const bool done = answer->status / 100 == 2 || (write.creates && answer->status == kConflict);
  if (done) return Sent::kDone;
  if (!write.creates && answer->status == kNotFound) {
    series_.Erase(write.key);  // events are deleted after an hour
    return Sent::kDone;
  }
  Drop(write, StatusMessage(answer->body));
  return Sent::kDone;
}

void EventRecorder::Drop(const EventSeries::Write& write, const std::string& why) {
  ++dropped_;
  series_.Erase(write.key);
  if (options_.on_failure) options_.on_failure("event " + api::Show(write.key) + ": " + why);
}

}  // namespace weft::kube
