#include "operator/predict/contention.h"

#include <algorithm>
#include <limits>

namespace weft::predict {
namespace {

// Rates are sums of floating-point numbers; a link counts as full from here on.
constexpr double kFull = 1 - 1e-9;

}  // namespace

Contention::Contention(const Uplinks& uplinks)
    : uplinks_(uplinks), wanted_(uplinks.size(), 0), users_(uplinks.size(), 0) {}

void Contention::Add(Member member, const Pace& pace) {
  if (jobs_.size() <= member) jobs_.resize(std::size_t{member} + 1);
  Job& job = jobs_[member];
  job = {true, 1, std::numeric_limits<double>::infinity(), {}};
  if (pace.uses.empty() || pace.alone <= 0) return;
  for (const LinkUse& use : pace.uses) {
    const double rate = use.bytes / pace.alone;
    job.uses.push_back({use.link, rate});
    job.fair = std::min(job.fair, use.gpus / rate);
    const bool before = wanted_[use.link] > uplinks_.rate(use.link);
    wanted_[use.link] += rate;
    ++users_[use.link];
    overfull_ += !before && wanted_[use.link] > uplinks_.rate(use.link) ? 1 : 0;
  }
  sharing_.insert(std::lower_bound(sharing_.begin(), sharing_.end(), member), member);
  dirty_ = true;
}

void Contention::Remove(Member member) {
  Job& job = jobs_[member];
  if (!job.uses.empty()) {
    for (const Use& use : job.uses) {
      const bool before = wanted_[use.link] > uplinks_.rate(use.link);
      wanted_[use.link] = --users_[use.link] == 0 ? 0 : wanted_[use.link] - use.rate;
      overfull_ -= before && wanted_[use.link] <= uplinks_.rate(use.link) ? 1 : 0;
    }
    sharing_.erase(std::lower_bound(sharing_.begin(), sharing_.end(), member));
    dirty_ = true;
  }
  job = {};
}

// Progressive filling: the rate per GPU, `level`, rises until a job is satisfied or a link is full.
void Contention::Fill() {
  std::vector<Member> open = sharing_;
  std::vector<double> left(uplinks_.size()), slope(uplinks_.size(), 0);
  for (std::uint32_t l = 0; l < uplinks_.size(); ++l) left[l] = uplinks_.rate(l);
  for (const Member m : open) {
    jobs_[m].speed = 1;
    for (const Use& use : jobs_[m].uses) slope[use.link] += jobs_[m].fair * use.rate;
  }
  const auto close = [&](Member m, double speed) {
    Job& job = jobs_[m];
    job.speed = std::min(1.0, speed);
    for (const Use& use : job.uses) {
      slope[use.link] -= job.fair * use.rate;
      left[use.link] -= job.speed * use.rate;
    }
  };
  while (!open.empty()) {
    double level = std::numeric_limits<double>::infinity();
    for (const Member m : open) {
      level = std::min(level, 1 / jobs_[m].fair);
      for (const Use& use : jobs_[m].uses) {
        level = std::min(level, std::max(0.0, left[use.link]) / slope[use.link]);
      }
    }
    std::vector<Member> rest;
    std::vector<Member> ending;
    for (const Member m : open) {
      const Job& job = jobs_[m];
      bool ends = level * job.fair >= kFull;
      for (const Use& use : job.uses) {
        ends = ends || level * slope[use.link] >= left[use.link] * kFull;
      }
      (ends ? ending : rest).push_back(m);
    }
    for (const Member m : ending) close(m, level * jobs_[m].fair);
    open = std::move(rest);
  }
}

std::span<const Contention::Member> Contention::Update() {
  changed_.clear();
  const bool fill = dirty_ && (overfull_ > 0 || was_overfull_);
  dirty_ = false;
  if (!fill) return changed_;
  was_overfull_ = overfull_ > 0;
  std::vector<double> before;
  before.reserve(sharing_.size());
  for (const Member m : sharing_) before.push_back(jobs_[m].speed);
  Fill();
  for (std::size_t i = 0; i < sharing_.size(); ++i) {
    if (jobs_[sharing_[i]].speed != before[i]) changed_.push_back(sharing_[i]);
  }
  return changed_;
}

double Contention::Load(std::uint32_t link) const {
  if (users_[link] == 0) return 0;
  if (overfull_ == 0) return wanted_[link] / uplinks_.rate(link);
  double sum = 0;
  for (const Member m : sharing_) {
    for (const Use& use : jobs_[m].uses) {
      if (use.link == link) sum += jobs_[m].speed * use.rate;
    }
  }
  return sum / uplinks_.rate(link);
}

}  // namespace weft::predict
