#pragma once

#include <string_view>

#include "operator/base/result.h"
#include "operator/import/ib_dump.h"
#include "operator/manifest/source.h"

namespace weft::import {

// Whether the text is a report of ports, which ibnetdiscover -p prints.
bool IsIbPortReport(std::string_view text);

// Reads a report of ports: a line for each port of each device,
//   SW    10  1 0xb8cef60300000000 4x EDR - CA    21  1 0x1c34da0300000001 ( 'leaf-1' - 'n1 HCA-1'
//   ) SW    10 36 0xb8cef60300000000 4x SDR                                     'leaf-1'
// It names no chassis, and each port of a CA has a GUID of its own; the lines of a device follow
// each other by descending port. Routers are left out.
//
// Errors  kInvalid: "FILE: line 12: ..." if no line can be read.
// Source  rdma-core, infiniband-diags/ibnetdiscover.c, dump_ports_report.
Result<IbDump> ParseIbPortReport(const manifest::Source& source);

}  // namespace weft::import
