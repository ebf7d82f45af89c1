#pragma once

#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/import/imported_cluster.h"
#include "operator/manifest/source.h"

namespace weft::import {

struct CsvOptions {
  // The levels, widest first: COLUMN, or LEVEL=COLUMN to give the level another name ("spine=PSW").
  // By default a level has its column's name in lower case. Its label is weft.dev/<level>.
  std::vector<std::string> levels;
  struct Columns {
    std::string node = {};     // "": the first column that is not in `levels`
    std::string gpus = {};     // a column of whole numbers
    std::string product = {};  // a column of GPU products, for the node's product label
    // Columns of quantities; COLUMN:UNIT adds a unit to plain numbers ("cpu_milli:m",
    // "memory_mib:Mi").
    std::string cpu = {}, memory = {};
  };
  Columns columns = {};
};

// Makes a cluster from a table (RFC 4180, with a header row) that has one row per node.
//
// A note names the units if a node has implausibly little memory or many CPUs.
// An empty cell of a level makes the node incomplete. An empty cell of another column counts as if
// the column were missing. Blank lines are skipped. A row that cannot be read, or whose node has a
// row already, is left out with a warning (skipped_lines.h). Errors  kInvalid: "FILE: line 12:
// ..."; for a bad option, the message names its flag and the
//         header's columns.
Result<ImportedCluster> ImportCsv(const manifest::Source& source, const CsvOptions& table,
                                  const ImportOptions& options);

}  // namespace weft::import
