#pragma once

#include <string_view>

#include "operator/base/result.h"
#include "operator/import/ib_dump.h"
#include "operator/manifest/source.h"

namespace weft::import {

// Whether the text is an output of ibnetdiscover: a dump, a report of ports (-p), or a list of
// devices, which has no links.
bool LooksLikeIbnetdiscover(std::string_view text);

// Reads a dump, plain or grouped by chassis (-g), or a report of ports (import_ib_ports.h). It
// tolerates the usual damage of real files: stripped tabs, CRLF, missing blank lines between
// records, the header of a terminal log, several dumps in one file, records and ends that were cut
// off. A broken line is left out (skipped_lines.h), and with the line of a Switch or Ca its ports:
// the lines of their peers have these links too.
//
// Errors  kInvalid: "FILE: line 12: ..." if no record can be read, or for a list of devices (-l or
//         -H, -S, -R) or a difference (--diff), which do not have the links of the fabric.
// Source  rdma-core, infiniband-diags/ibnetdiscover.c, and "TOPOLOGY FILE FORMAT" of
//         ibnetdiscover(8).
Result<IbDump> ParseIbnetdiscover(const manifest::Source& source);

}  // namespace weft::import
