#include "operator/kube/lease_keeper.h"

#include <algorithm>
#include <utility>

#include "operator/base/seeded_bug.h"
#include "operator/kube/frame.h"
#include "operator/kube/status_code.h"

namespace weft::kube {
namespace {

constexpr Millis kLongestRequest{5'000};
constexpr Millis kShortestRequest{1};
constexpr Millis kLongestFarewell{1'000};
constexpr int kTriesToGiveBack = 3;

std::string FolderOf(const std::string& space) {
  return "/apis/coordination.k8s.io/v1/namespaces/" + space + "/leases";
}

}  // namespace

LeaseKeeper::LeaseKeeper(Transport& transport, Options options)
    : transport_(transport),
      options_(std::move(options)),
      election_(options_.identity, options_.times),
      random_(options_.seed),
      leads_until_(Instant::min().time_since_epoch().count()) {}

LeaseKeeper::~LeaseKeeper() { Stop(); }

void LeaseKeeper::Start() {
  thread_ = options_.executor->Start([this] { Run(); });
}

void LeaseKeeper::Cancel() {
  cancel_ = true;
  options_.timer->End();
}

void LeaseKeeper::Stop() {
  Cancel();
  if (thread_) thread_->Join();
  thread_.reset();
}

bool LeaseKeeper::IsLeader() const { return options_.timer->Now() < leads_until(); }

void LeaseKeeper::Run() {
  while (!cancel_) {
    Round();
    Step(IsLeader() && !cancel_);
    if (!cancel_) options_.timer->Wait(Pause());
    Step(IsLeader() && !cancel_);
  }
  GiveBack();
}

void LeaseKeeper::Round() {
  using Kind = Election::Action::Kind;
  Timer& timer = *options_.timer;
  Election::Action action = election_.Next(timer.Now(), timer.Wall());
  if (action.kind == Kind::kRead) {
    Read();
    if (cancel_) return;
    action = election_.Next(timer.Now(), timer.Wall());
  }
  if (action.kind == Kind::kCreate || action.kind == Kind::kReplace) Write(action);
}

Request LeaseKeeper::NewRequest(Method method) const {
  Request request;
  request.method = method;
  request.path = FolderOf(options_.space);
  if (method != Method::kPost) request.path += "/" + options_.name;
  if (method != Method::kGet) request.content_type = "application/json";
  const Instant now = options_.timer->Now();
  request.timeout = cancel_ ? kLongestFarewell : kLongestRequest;
  if (election_.IsLeader(now)) {
    const auto left = std::chrono::duration_cast<Millis>(election_.leads_until() - now);
    request.timeout = std::clamp(left, kShortestRequest, request.timeout);
  }
  return request;
}

void LeaseKeeper::Fail(const std::string& what) {
  election_.Failed();
  if (options_.hooks.on_failure) {
    options_.hooks.on_failure("lease " + options_.space + "/" + options_.name + ": " + what);
  }
}

void LeaseKeeper::Publish() { leads_until_ = election_.leads_until().time_since_epoch().count(); }

void LeaseKeeper::Read() {
  const Result<Response> answer = transport_.Send(NewRequest(Method::kGet));
  if (!answer) return Fail(answer.error().message);
  const Instant now = options_.timer->Now();
  if (answer->status == kNotFound) {
    object_ = {{"apiVersion", "coordination.k8s.io/v1"},
               {"kind", "Lease"},
               {"metadata", {{"name", options_.name}, {"namespace", options_.space}}}};
    election_.Observe(std::nullopt, now);
    return Publish();
  }
  if (answer->status / 100 != 2) return Fail(StatusMessage(answer->body));
  Result<SeenLease> seen = ParseLease(answer->body);
  if (!seen) return Fail(seen.error().message);
  object_ = std::move(seen->object);
  election_.Observe(seen->record, now);
  Publish();
}

void LeaseKeeper::Write(const Election::Action& action) {
  const bool creates = action.kind == Election::Action::Kind::kCreate;
  Request request = NewRequest(creates ? Method::kPost : Method::kPut);
  request.body = LeaseBody(object_, action.record);
  const Instant sent = options_.timer->Now();
  const Result<Response> answer = transport_.Send(request);
  if (!answer) return Fail(answer.error().message);
  if (answer->status / 100 != 2) return Fail(StatusMessage(answer->body));
  Result<SeenLease> written = ParseLease(answer->body);
  if (!written) return Fail(written.error().message);
  object_ = std::move(written->object);
  election_.Wrote(action.record, sent, options_.timer->Now());
  Publish();
}

void LeaseKeeper::Step(bool leads) {
  if (leads == leading_) return;
  leading_ = leads;
  const auto& hook = leads ? options_.hooks.on_started : options_.hooks.on_stopped;
  if (hook) hook();
}

// Candidates try at random intervals. The leader wakes up at the latest when its leadership ends.
Millis LeaseKeeper::Pause() {
  const Instant now = options_.timer->Now();
  const auto tenth = static_cast<std::uint64_t>(options_.times.retry.count() / 10);
  if (!election_.IsLeader(now)) return options_.times.retry + Millis(random_.Below(2 * tenth + 1));
  const auto left = std::chrono::ceil<Millis>(election_.leads_until() - now);
  return std::min(options_.times.retry, left);
}

void LeaseKeeper::GiveBack() {
  Step(false);
  if (Seeded(Bug::kLeaseKept)) return;
  for (int i = 0; i < kTriesToGiveBack; ++i) {
    const Election::Action action = election_.Release(options_.timer->Wall());
    if (action.kind == Election::Action::Kind::kReplace) {
      Write(action);
    } else if (election_.holder() != options_.identity) {
      return;
    } else {
      Read();  // a write failed, so the holder is unknown
    }
  }
}

}  // namespace weft::kube
