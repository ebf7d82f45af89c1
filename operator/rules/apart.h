#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/fabric/fabric.h"

namespace weft::rules {

// Why nodes have lost all slots by rules about more than one pod: an entry of `texts` for each
// node, or kNotApart.
struct Apart {
  static constexpr std::uint32_t kNotApart = ~0U;
  enum class Kind : std::uint8_t { kPort, kPods, kVolume };  // kPods: pod affinity or spread
  struct Text {
    Kind kind = Kind::kPods;
    std::string text;
  };
  fabric::ByNode<std::uint32_t> why;  // empty: no such rule
  std::vector<Text> texts;
};

// Takes slots away, and keeps the reasons where somebody asks for them.
class SlotTaker {
 public:
  // `slots`, and `apart` if it is not null, must outlive the taker. `apart` begins empty.
  SlotTaker(fabric::ByNode<std::uint32_t>& slots, Apart* apart);

  fabric::ByNode<std::uint32_t>& slots() { return slots_; }
  const fabric::ByNode<std::uint32_t>& slots() const { return slots_; }

  // The number of a reason, for Take.
  std::uint32_t Text(Apart::Kind kind, const std::string& text);
  // Leaves the node `left` slots at most.
  void Take(fabric::NodeIndex node, std::uint32_t left, std::uint32_t why);
  void TakeAll(Apart::Kind kind, const std::string& text);
  // The nodes with slots, roomiest first.
  std::vector<fabric::NodeIndex> Roomiest() const;

 private:
  fabric::ByNode<std::uint32_t>& slots_;
  Apart* apart_;
};

}  // namespace weft::rules
