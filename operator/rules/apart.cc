#include "operator/rules/apart.h"

#include <algorithm>

namespace weft::rules {

using fabric::NodeIndex;

SlotTaker::SlotTaker(fabric::ByNode<std::uint32_t>& slots, Apart* apart)
    : slots_(slots), apart_(apart) {
  if (apart_ != nullptr) apart_->why.assign(slots.size(), Apart::kNotApart);
}

std::uint32_t SlotTaker::Text(Apart::Kind kind, const std::string& text) {
  if (apart_ == nullptr) return Apart::kNotApart;
  std::vector<Apart::Text>& all = apart_->texts;
  const auto same = std::find_if(all.begin(), all.end(),
                                 [&](const Apart::Text& one) { return one.text == text; });
  if (same != all.end()) return static_cast<std::uint32_t>(same - all.begin());
  all.push_back({kind, text});
  return static_cast<std::uint32_t>(all.size() - 1);
}

void SlotTaker::Take(NodeIndex node, std::uint32_t left, std::uint32_t why) {
  if (slots_[node] <= left) return;
  slots_[node] = left;
  if (left == 0 && apart_ != nullptr) apart_->why[node] = why;
}

void SlotTaker::TakeAll(Apart::Kind kind, const std::string& text) {
  const std::uint32_t why = Text(kind, text);
  for (const NodeIndex n : slots_.Indices()) Take(n, 0, why);
}

std::vector<NodeIndex> SlotTaker::Roomiest() const {
  std::vector<NodeIndex> nodes;
  for (const NodeIndex n : slots_.Indices()) {
    if (slots_[n] > 0) nodes.push_back(n);
  }
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](NodeIndex a, NodeIndex b) { return slots_[a] > slots_[b]; });
  return nodes;
}

}  // namespace weft::rules
