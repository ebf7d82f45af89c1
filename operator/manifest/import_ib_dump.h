#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/manifest/reader.h"

namespace weft::manifest {

// One port of a device that is wired to another one.
struct IbPort {
  int port = 0;
  std::string peer;  // "H-<guid>" or "S-<guid>"
  int peer_port = 0;
  std::string speed;             // "4xNDR", "" where the line has none
  std::string peer_description;  // of switch lines
};

struct IbDevice {
  std::string id;  // "H-<guid>" or "S-<guid>"
  std::string description;
  std::string system_guid;  // shared by the chips of one chassis and the ports of one card
  bool is_switch = false;
  std::vector<IbPort> ports;
};

// The output of an ibnetdiscover run; routers are left out.
struct IbDump {
  std::vector<IbDevice> devices;
};

// Reads the text format and tolerates the usual damage of real files: stripped tabs, CRLF, no blank
// line between records, [ext N] of -g, chassis lines, a terminal's log header.
//
// Errors  kInvalid: "FILE: line 12: ...", where a line is cut or no line of this format.
// Source  rdma-core, infiniband-diags, "TOPOLOGY FILE FORMAT" of ibnetdiscover(8).
Result<IbDump> ParseIbnetdiscover(const Source& source);

}  // namespace weft::manifest
