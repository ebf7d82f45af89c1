#include "operator/search/automorphism.h"

#include <map>
#include <utility>

#include "operator/base/check.h"

namespace weft::search {

namespace {

constexpr std::uint32_t kMostTries = 400;

}  // namespace

Automorphisms::Automorphisms(const objective::Instance& instance,
                             std::span<const std::int64_t> bytes,
                             std::span<const WorkerIndex> order)
    : workers_(order.size()),
      label_(workers_ * workers_),
      orbit_(workers_),
      known_(workers_, 0),
      image_(workers_),
      taken_(workers_) {
  // A pair is labelled by its bytes and by the sets that hold both; a worker by the groups that
  // hold it.
  WEFT_CHECK(bytes.size() == label_.size());
  WEFT_CHECK(instance.request().groups.size() < 64);  // a bit each
  std::vector<std::uint64_t> together(workers_ * workers_, 0);
  std::uint64_t bit = 1;
  for (const objective::GroupConstraint& group : instance.request().groups) {
    for (std::size_t s = 0; s < group.sets.size(); ++s) {
      for (const WorkerIndex a : group.sets.set(s)) {
        for (const WorkerIndex b : group.sets.set(s)) together[a.Raw() * workers_ + b.Raw()] |= bit;
      }
    }
    bit <<= 1;
  }
  std::map<std::pair<std::int64_t, std::uint64_t>, std::uint32_t> known;
  for (std::size_t i = 0; i < workers_; ++i) {
    for (std::size_t j = 0; j < workers_; ++j) {
      const std::size_t pair = order[i].Raw() * workers_ + order[j].Raw();
      const auto next = static_cast<std::uint32_t>(known.size());
      label_[i * workers_ + j] =
          known.try_emplace({bytes[pair], together[pair]}, next).first->second;
    }
  }
}

std::span<const std::uint32_t> Automorphisms::Orbit(std::size_t depth) {
  if (known_[depth] == 0) {
    known_[depth] = 1;
    for (std::size_t from = depth + 1; from < workers_; ++from) {
      if (Maps(depth, from)) orbit_[depth].push_back(static_cast<std::uint32_t>(from));
    }
  }
  return orbit_[depth];
}

bool Automorphisms::Maps(std::size_t depth, std::size_t from) {
  taken_.assign(workers_, 0);
  for (std::size_t i = 0; i < depth; ++i) {
    image_[i] = i;
    taken_[i] = 1;
  }
  tries_ = kMostTries;
  if (!Fits(depth, from)) return false;
  image_[depth] = from;
  taken_[from] = 1;
  return Extend(depth + 1);
}

bool Automorphisms::Fits(std::size_t at, std::size_t image) const {
  for (std::size_t i = 0; i < at; ++i) {
    if (label_[at * workers_ + i] != label_[image * workers_ + image_[i]]) return false;
  }
  return label_[at * workers_ + at] == label_[image * workers_ + image];
}

bool Automorphisms::Extend(std::size_t at) {
  if (at == workers_) return true;
  for (std::size_t image = 0; image < workers_ && tries_ > 0; ++image) {
    if (taken_[image] != 0) continue;
    --tries_;
    if (!Fits(at, image)) continue;
    image_[at] = image;
    taken_[image] = 1;
    if (Extend(at + 1)) return true;
    taken_[image] = 0;
  }
  return false;
}

}  // namespace weft::search
