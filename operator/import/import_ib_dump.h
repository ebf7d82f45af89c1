#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"
#include "operator/import/skipped_lines.h"
#include "operator/manifest/source.h"

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

// Whether the text is an output of ibnetdiscover: a dump, a report of ports (-p), or a list of
// devices, which has no links.
bool LooksLikeIbnetdiscover(std::string_view text);

// Whether the line is no part of an output: a message of the tool about a device that did not
// answer, or its progress (-s).
bool IsIbMessage(std::string_view line);
// Notes such a message, unless it is only about progress.
void NoteIbMessage(const std::string& where, std::string_view line, SkippedLines& skipped);

// Reads a dump, plain or grouped by chassis (-g), or a report of ports (import_ib_ports.h). It
// tolerates the usual damage of real files: stripped tabs, CRLF, missing blank lines between
// records, the header of a terminal log, several dumps in one file, records and ends that were cut
// off. A broken line is left out (skipped_lines.h), and with the line of a Switch or Ca its ports:
// the lines of their peers have these links too.
//
// Errors  kInvalid: "FILE: line 12: ..." if no record can be read, or for a list of devices (-l,
// -H,
//         -S, -R) or a difference (--diff), which do not have the links of the fabric.
// Source  rdma-core, infiniband-diags/ibnetdiscover.c, and "TOPOLOGY FILE FORMAT" of
//         ibnetdiscover(8).
Result<IbDump> ParseIbnetdiscover(const manifest::Source& source);

}  // namespace weft::import
