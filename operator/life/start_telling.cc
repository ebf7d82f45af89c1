#include "operator/life/start_telling.h"

#include <utility>
#include <vector>

#include "operator/base/seeded_bug.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/kubelet_wait.h"
#include "operator/life/start_reasons.h"
#include "operator/life/unready_node.h"

namespace weft::life {
namespace {

constexpr std::int64_t kOtherSeconds = 5;
constexpr std::int64_t kNothingSeconds = 15;
constexpr std::int64_t kDigitsSeconds = 60;

KubeletWait Told(const JobStatus& status) {
  const api::Condition* present = FindCondition(status, "PodsReady");
  if (present == nullptr || !IsReasonOfStart(present->reason)) return {};
  return {present->reason, present->message};
}

// A kubelet that has gone says nothing that counts.
KubeletWait SaidBy(const std::vector<const api::Pod*>& pods, const JobView& view,
                   const LifeOptions& options) {
  const auto unready = FirstUnready(pods, view.node_state, options);
  if (unready) return {std::string(kNodeNotReady), UnreadyText(*unready)};
  if (Seeded(Bug::kWaitUntold)) return {};
  KubeletWait wait = WaitOf(pods);
  if (!wait.reason.empty() && !IsReasonOfStart(wait.reason)) wait.reason = kContainerWaiting;
  return wait;
}

// How long the kubelets must have differed from the condition before it is written again.
std::int64_t PauseOf(WaitNews news) {
  if (news == WaitNews::kOther) return kOtherSeconds;
  if (news == WaitNews::kNothing) return kNothingSeconds;
  return news == WaitNews::kDigits ? kDigitsSeconds : 0;
}

}  // namespace

UnixSeconds StartDiffersSince(const JobView& view, const LifeOptions& options, UnixSeconds known) {
  const JobStatus status = StatusOf(*view.job);
  if (StageOf(status) != Stage::kStarting) return 0;
  std::vector<const api::Pod*> pods;
  for (const api::Pod* pod : view.pods) {
    if (AttemptLabel(pod->meta) == status.attempt) pods.push_back(pod);
  }
  if (NewsOf(Told(status), SaidBy(pods, view, options)) == WaitNews::kNone) return 0;
  return known == 0 || known > view.now ? view.now : known;
}

std::optional<std::int64_t> TellStart(Life& life) {
  KubeletWait now = SaidBy(PodsOfAttempt(life), life.view, life.options);
  const WaitNews news = NewsOf(Told(life.status), now);
  if (StageOf(life.status) == Stage::kStarting) {
    if (news == WaitNews::kNone) return std::nullopt;
    const UnixSeconds since = life.view.start_differs;
    const std::int64_t passed = since == 0 ? 0 : life.view.now - since;
    if (passed < PauseOf(news)) return PauseOf(news) - passed;
  }
  if (now.reason.empty()) {
    SetStage(life.status, Stage::kStarting, "every pod is bound", life.view.now);
  } else {
    SetStarting(life.status, now.reason, std::move(now.message), life.view.now);
  }
  return std::nullopt;
}

}  // namespace weft::life
