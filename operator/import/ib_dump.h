#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "operator/import/skipped_lines.h"

namespace weft::import {

// Limit for hostile input.
inline constexpr std::size_t kMaxIbLinks = std::size_t{1} << 24;

// One port of a device that is wired to another one.
struct IbPort {
  int port = 0;
  std::string peer;  // "H-<guid>", "S-<guid>" or, for a router, "R-<guid>"
  int peer_port = 0;
  std::string speed;             // "4xNDR"; "" if the line has none
  std::string peer_description;  // only on lines of switches
};

struct IbDevice {
  std::string id;  // "H-<guid>" or "S-<guid>"
  std::string description;
  std::string system_guid;  // shared by the chips of one chassis and the ports of one card
  bool is_switch = false;
  std::vector<IbPort> ports;
};

// The output of ibnetdiscover, without routers.
struct IbDump {
  std::vector<IbDevice> devices;
  SkippedLines skipped;
};

}  // namespace weft::import
