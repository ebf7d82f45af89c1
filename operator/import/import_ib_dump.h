#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/manifest/source.h"

namespace weft::import {

// One port of a device that is wired to another one.
struct IbPort {
  int port = 0;
  std::string peer;  // "H-<guid>" or "S-<guid>"
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
};

// Reads the text format. It tolerates the usual damage of real files: stripped tabs, CRLF, missing
// blank lines between records, [ext N] from -g, chassis lines, the header of a terminal log.
//
// Errors  kInvalid: "FILE: line 12: ..." if a line is cut off or not in this format.
// Source  rdma-core, infiniband-diags, "TOPOLOGY FILE FORMAT" of ibnetdiscover(8).
Result<IbDump> ParseIbnetdiscover(const manifest::Source& source);

}  // namespace weft::import
