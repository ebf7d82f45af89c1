#pragma once

#include <span>
#include <string>
#include <string_view>

#include "operator/base/result.h"
#include "operator/import/import_csv.h"
#include "operator/import/import_slurm.h"
#include "operator/import/imported_cluster.h"
#include "operator/manifest/source.h"

namespace weft::import {

// What a user asks of an import.
struct ImportRequest {
  std::string format = {};    // of one of Formats(); "": recognised by the options and the text
  std::string topology = {};  // of a Slurm topology.yaml; "": its default
  CsvOptions table = {};
  IncludeReader include = {};  // reads the files that a Slurm topology.conf includes
  ImportOptions options = {};
};

// A format of descriptions of a network.
struct Format {
  std::string_view name;  // as users write it: "--<name>"
  std::string_view help;  // "FILE is ..."
  std::string_view noun;  // in errors: "is not an ibnetdiscover dump, ..."; "": a table
  // Whether the request has options that only this format has; null: there are none.
  bool (*asked)(const ImportRequest& request) = nullptr;
  // Whether a text is of this format and of no other; null: no text is recognised.
  bool (*recognises)(std::string_view text) = nullptr;
  // Whether a file can hold several topologies, for ImportRequest::topology; null: none can.
  bool (*holds_several)(const manifest::Source& source) = nullptr;
  Result<ImportedCluster> (*read)(const manifest::Source& source, const ImportRequest& request);
};

// All formats, in the order of the help.
std::span<const Format> Formats();

// Makes a cluster from a file of any format.
// Errors  kInvalid: those of the importers (import_*.h); "FILE: is not an ibnetdiscover dump, ..."
//         if no format is asked for and none is recognised.
Result<ImportedCluster> Import(const manifest::Source& source, const ImportRequest& request);

}  // namespace weft::import
