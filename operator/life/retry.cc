#include "operator/life/retry.h"

#include <algorithm>
#include <array>

#include "operator/base/check.h"

namespace weft::life {
namespace {

constexpr std::int64_t kMinute = 60;
// As for a Job's pods (k8s.io/kubernetes pkg/controller/job, MaxJobPodFailureBackOff: 6 min).
constexpr std::int64_t kMostAfterRunning = 6 * kMinute;
// After a refusal, each try creates and deletes the part of the gang that is admitted: with a quota
// of two of four pods, fifteen requests. With this wait that is at most one request a minute.
constexpr std::int64_t kMostAfterRefusal = 15 * kMinute;
// As in the kubelet's back-off of a container that crashes: reset after ten minutes.
constexpr std::int64_t kLasting = 10 * kMinute;
// Losing a node seldom has to do with the program.
constexpr std::int64_t kLastingOnALostNode = kMinute;
// A user who puts the spec right is not kept waiting; whoever changes it all the time is.
constexpr std::int64_t kFreeChanges = 3;
// Far more than the longest wait needs.
constexpr std::int64_t kTriesAtMost = 99'999;

// FNV-1a, 64 bits: the same on every machine.
std::uint64_t Hash(std::string_view text, std::int64_t number) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&hash](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3U; };
  for (const char c : text) add(static_cast<std::uint8_t>(c));
  for (int shift = 0; shift < 64; shift += 8) {
    add(static_cast<std::uint8_t>(static_cast<std::uint64_t>(number) >> shift));
  }
  return hash;
}

// The seconds plus up to a quarter.
std::int64_t WithJitter(std::int64_t seconds, std::uint64_t hash) {
  constexpr std::uint64_t kSteps = 256;
  return seconds +
         seconds * static_cast<std::int64_t>(hash % kSteps) / static_cast<std::int64_t>(4 * kSteps);
}

std::int64_t WaitSeconds(const RetryPolicy& policy, std::int64_t times) {
  if (times <= policy.free_tries) return 0;
  std::int64_t seconds = kFirstRetrySeconds;
  for (std::int64_t i = policy.free_tries + 1; i < times && seconds < policy.most_seconds; ++i) {
    seconds *= 2;
  }
  return std::min(seconds, policy.most_seconds);
}

constexpr std::int64_t kLongestWait = kMostAfterRefusal * 5 / 4;

}  // namespace

RetryPolicy PolicyOf(Cause cause) {
  switch (cause) {
    case Cause::kSchedulerRefused:
    case Cause::kNodeRejected:
    case Cause::kNodeUnfit:
      return {Leave::kOut, 1, kMostAfterRefusal, kLasting, true};
    case Cause::kSchedulerSilent:
    case Cause::kAdmissionRefused:
      return {Leave::kUsed, 0, kMostAfterRefusal, kLasting, true};
    case Cause::kNodeLost:
    case Cause::kDisrupted:
    case Cause::kNodeFault:
      return {Leave::kUsed, 1, kMostAfterRunning, kLastingOnALostNode, true};
    case Cause::kSpecChanged:
      return {Leave::kUsed, kFreeChanges, kMostAfterRunning, kLasting, true};
    case Cause::kProgramFailed:
    case Cause::kNotReady:
      break;
  }
  return {Leave::kOutSoftly, 0, kMostAfterRunning, kLasting, false};
}

std::string_view CauseName(Cause cause) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "SchedulerRefused", "SchedulerSilent", "AdmissionRefused", "NodeRejected",
      "NodeLost",         "Disrupted",       "NodeFault",        "NodeUnfit",
      "ProgramFailed",    "NotReady",        "SpecChanged"};
  return kNames[static_cast<std::size_t>(cause)];
}

api::Retry NextRetry(const api::Retry& before, const Failed& failed, UnixSeconds now) {
  const RetryPolicy policy = PolicyOf(failed.cause);
  const bool lasted = failed.ready_seconds && *failed.ready_seconds >= policy.lasting_seconds;
  api::Retry next;
  next.times = lasted ? 1 : std::clamp<std::int64_t>(before.times, 0, kTriesAtMost - 1) + 1;
  WEFT_CHECK(next.times >= 1 && next.times <= kTriesAtMost);
  const std::int64_t wait =
      WithJitter(WaitSeconds(policy, next.times), Hash(failed.uid, failed.attempt));
  if (wait > 0) next.not_before = FormatTime(now + wait);
  return next;
}

std::int64_t RetryLeft(const api::Retry& retry, UnixSeconds now) {
  const std::int64_t left = ParseTime(retry.not_before).value_or(now) - now;
  return left > kLongestWait + kClockSkewSeconds ? 0 : left;
}

std::string RetryText(const api::Retry& retry) {
  if (retry.not_before.empty()) return "";
  std::string text = "; the next attempt starts at " + retry.not_before;
  if (retry.times > 1) text += ", after " + std::to_string(retry.times) + " failures in a row";
  return text;
}

}  // namespace weft::life
