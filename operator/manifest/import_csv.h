#pragma once

#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/manifest/imported_cluster.h"
#include "operator/manifest/reader.h"

namespace weft::manifest {

struct CsvOptions {
  // Widest first: a column's name, or LEVEL=COLUMN to call the level otherwise ("spine=PSW"). A
  // level is named after its column in lower case, its label weft.dev/<level>.
  std::vector<std::string> levels;
  struct Columns {
    std::string node = {};     // "": the first column not named in `levels`
    std::string gpus = {};     // a whole number
    std::string product = {};  // of the GPUs: the node's product label
    // Quantities; COLUMN:UNIT where the numbers lack their unit ("cpu_milli:m", "memory_mib:Mi").
    std::string cpu = {}, memory = {};
  };
  Columns columns = {};
};

// A table (RFC 4180, header row first) with one row per node as a cluster.
//
// An empty cell leaves the node without that level: incomplete. An empty cell of another column
// counts as a missing column. Blank lines are skipped. Errors kInvalid: "FILE: line 12: ..."; a bad
// option names its flag and the header's columns.
Result<ImportedCluster> ImportCsv(const Source& source, const CsvOptions& table,
                                  const ImportOptions& options);

}  // namespace weft::manifest
