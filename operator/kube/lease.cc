#include "operator/kube/lease.h"

#include <algorithm>
#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"

namespace weft::kube {
namespace {

using Json = nlohmann::json;

std::int64_t Number(const Json& object, const char* key) {
  const Json* found = api::FindMember(object, key);
  return found != nullptr && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

}  // namespace

Result<SeenLease> ParseLease(const std::string& body) {
  Json object = api::ParseJson(body);
  const Json* meta = api::FindMember(object, "metadata");
  if (meta == nullptr || api::TextAt(*meta, "resourceVersion").empty()) {
    return Error{ErrorKind::kTransient, "the API server's answer is not a Lease"};
  }
  LeaseRecord record;
  if (const Json* spec = api::FindMember(object, "spec"); spec != nullptr) {
    record = {api::TextAt(*spec, "holderIdentity"), Number(*spec, "leaseDurationSeconds"),
              api::TextAt(*spec, "acquireTime"), api::TextAt(*spec, "renewTime"),
              Number(*spec, "leaseTransitions")};
  }
  return SeenLease{std::move(record), std::move(object)};
}

std::string LeaseBody(const Json& object, const LeaseRecord& record) {
  Json body = object;
  Json& spec = body["spec"];
  if (!spec.is_object()) spec = Json::object();
  spec["holderIdentity"] = record.holder;
  spec["leaseDurationSeconds"] = record.duration_seconds;
  spec["acquireTime"] = record.acquire_time;
  spec["renewTime"] = record.renew_time;
  spec["leaseTransitions"] = record.transitions;
  return api::JsonText(body);
}

Election::Election(std::string identity, LeaseTimes times)
    : identity_(std::move(identity)), times_(times) {}

LeaseRecord Election::Taken(WallMicros wall) const {
  const std::string time = FormatMicroTime(wall);
  LeaseRecord record{identity_, times_.lease.count() / 1'000, time, time, 0};
  if (!seen_) return record;
  const bool renewed = seen_->holder == identity_;
  if (renewed) record.acquire_time = seen_->acquire_time;
  record.transitions = seen_->transitions + (renewed ? 0 : 1);
  return record;
}

Millis Election::DurationOf(const LeaseRecord& record) const {
  constexpr std::int64_t kDay = 86'400;
  if (record.duration_seconds <= 0) return times_.lease;
  return Millis(std::min(record.duration_seconds, kDay) * 1'000);
}

Election::Action Election::Next(Instant now, WallMicros wall) {
  using Kind = Action::Kind;
  if (!fresh_) return {Kind::kRead, {}};
  if (!seen_) return {Kind::kCreate, Taken(wall)};
  const bool others = !seen_->holder.empty() && seen_->holder != identity_;
  if (others && now < changed_ + DurationOf(*seen_)) {
    fresh_ = false;
    return {Kind::kNothing, {}};
  }
  return {Kind::kReplace, Taken(wall)};
}

Election::Action Election::Release(WallMicros wall) const {
  if (!fresh_ || !seen_ || seen_->holder != identity_) return {};
  // The duration is 1, because 0 is not allowed.
  LeaseRecord record{"", 1, seen_->acquire_time, FormatMicroTime(wall), seen_->transitions};
  return {Action::Kind::kReplace, std::move(record)};
}

void Election::Observe(const std::optional<LeaseRecord>& seen, Instant now) {
  if (seen != seen_) changed_ = now;
  seen_ = seen;
  fresh_ = true;
  holder_ = seen ? seen->holder : "";
  if (holder_ != identity_) leads_until_ = Instant::min();
}

void Election::Wrote(const LeaseRecord& record, Instant sent, Instant now) {
  seen_ = record;
  changed_ = now;
  holder_ = record.holder;
  leads_until_ = holder_ == identity_ ? sent + times_.renew : Instant::min();
}

void Election::Failed() { fresh_ = false; }

}  // namespace weft::kube
