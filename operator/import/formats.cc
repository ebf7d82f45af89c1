#include "operator/import/formats.h"

#include <algorithm>
#include <array>

#include "operator/import/import_ib_dump.h"
#include "operator/import/import_ibnetdiscover.h"
#include "operator/import/import_slurm.h"
#include "operator/import/import_slurm_yaml.h"
#include "operator/import/import_text.h"
#include "operator/import/import_topograph.h"

namespace weft::import {
namespace {

using manifest::Source;

// To add a format, add its row here and its file pair import_NAME.
constexpr auto kFormats = std::to_array<Format>({
    {.name = "ibnetdiscover",
     .help = "FILE is a dump of ibnetdiscover (default: recognised by its text)",
     .noun = "an ibnetdiscover dump",
     .recognises = LooksLikeIbnetdiscover,
     .read =
         [](const Source& source, const ImportRequest& request) {
           return ImportIbnetdiscover(source, request.options);
         }},
    {.name = "topograph",
     .help = "FILE is a topograph model",
     .noun = "a topograph model",
     .recognises = LooksLikeTopograph,
     .read =
         [](const Source& source, const ImportRequest& request) {
           return ImportTopographText(source, request.options);
         }},
    {.name = "slurm",
     .help = "FILE is a Slurm topology.conf or topology.yaml",
     .noun = "a Slurm topology.conf or topology.yaml",
     .recognises = LooksLikeSlurm,
     .holds_several = IsTopologyYaml,
     .read =
         [](const Source& source, const ImportRequest& request) {
           return IsTopologyYaml(source)
                      ? ImportSlurmYaml(source, request.topology, request.options)
                      : ImportSlurm(source, request.options, request.include);
         }},
    {.name = "csv",
     .help = "FILE is a table with a header row",
     .noun = "",
     .asked = [](const ImportRequest& request) { return !request.table.levels.empty(); },
     .read =
         [](const Source& source, const ImportRequest& request) {
           return ImportCsv(source, request.table, request.options);
         }},
});

// "an ibnetdiscover dump, a topograph model, ..."
std::string FormatList() {
  std::string text;
  for (const Format& format : kFormats) {
    if (!format.noun.empty()) text += (text.empty() ? "" : ", ") + std::string(format.noun);
  }
  return text;
}

// The error for a file that no importer reads.
Error NotAFabric(const Source& source) {
  const std::string head = source.text.substr(0, source.text.find('\n'));
  const std::string formats = FormatList();
  if (HasAny(head, {"<system", "<graphs"})) {
    return Invalid(source.name +
                   ": line 1: this is an NCCL topology, which describes the inside of one node; "
                   "import reads the network between nodes: " +
                   formats + ", or a table");
  }
  const bool jobs = HasAny(head, {"job_id", "submit", "duration", "creation_time", "JobID"});
  if (jobs && HasAny(head, {",", "|"})) {
    return Invalid(
        source.name +
        ": line 1: this looks like a trace of jobs; import reads the network between nodes: " +
        formats + ", or a table with a row for each node");
  }
  return Invalid(source.name + ": is not " + formats +
                 "; for a table with a row for each node, name the columns of its levels with "
                 "--levels WIDEST,...,NARROWEST");
}

// The format that the request names or whose options it has, else that of the text; null if
// unknown.
const Format* FormatOf(const Source& source, const ImportRequest& request) {
  const auto first = [](auto matches) -> const Format* {
    const auto found = std::find_if(kFormats.begin(), kFormats.end(), matches);
    return found == kFormats.end() ? nullptr : &*found;
  };
  if (!request.format.empty()) {
    return first([&](const Format& format) { return format.name == request.format; });
  }
  const Format* asked =
      first([&](const Format& format) { return format.asked != nullptr && format.asked(request); });
  if (asked != nullptr) return asked;
  return first([&](const Format& format) {
    return format.recognises != nullptr && format.recognises(source.text);
  });
}

}  // namespace

std::span<const Format> Formats() { return kFormats; }

Result<ImportedCluster> Import(const Source& source, const ImportRequest& request) {
  const Format* format = FormatOf(source, request);
  const bool several =
      format != nullptr && format->holds_several != nullptr && format->holds_several(source);
  if (!request.topology.empty() && !several) {
    return Invalid("--topology: " + source.name +
                   " holds one topology; only a Slurm topology.yaml can hold several");
  }
  if (format == nullptr) return NotAFabric(source);
  return format->read(source, request);
}

}  // namespace weft::import
