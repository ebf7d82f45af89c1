#include <iostream>
#include <nlohmann/json.hpp>

#include "operator/cli/accelerator_file.h"
#include "operator/cli/commands.h"
#include "operator/cli/serve_map.h"
#include "operator/cli/session.h"
#include "operator/designs/design.h"
#include "operator/designs/reference_design.h"
#include "operator/import/import_csv.h"
#include "operator/import/import_ibnetdiscover.h"
#include "operator/import/import_slurm.h"
#include "operator/import/import_slurm_yaml.h"
#include "operator/import/import_topograph.h"
#include "operator/import/imported_cluster.h"
#include "operator/import/write_manifests.h"
#include "operator/manifest/locate.h"
#include "operator/manifest/reader.h"
#include "operator/program/sources.h"
#include "operator/render/fabric_text.h"
#include "operator/render/map_html.h"
#include "operator/render/map_svg.h"
#include "operator/render/table.h"
#include "operator/report/overview.h"

namespace weft::cli {

namespace {

int PrintManifests(const Result<import::ImportedCluster>& cluster) {
  if (!cluster) return Fail(cluster.error());
  for (const std::string& note : cluster->notes) std::cerr << "weft: note: " << note << "\n";
  return Print(import::WriteManifests(*cluster), kDone);
}

std::string DesignTable() {
  render::Table table({{"DESIGN", render::Align::kLeft},
                       {"NODES", render::Align::kRight},
                       {"GPUS", render::Align::kRight},
                       {"WHAT", render::Align::kLeft}});
  for (const designs::Design& design : designs::Designs()) {
    table.Add({{std::string(design.name)},
               {std::to_string(design.default_nodes)},
               {std::to_string(design.gpus_per_node)},
               {std::string(design.summary)}});
  }
  return table.Show(TextStyle().colour);
}

// The format of the text by its first line that is neither blank nor a comment; "" if unknown.
std::string GuessFormat(const std::string& text) {
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  if (has("switchguid=") || has("caguid=")) return "ibnetdiscover";
  if (has("SwitchName=") || has("BlockName=") || import::HasTopologyKey(text)) return "slurm";
  if (has("switches:") || has("blocks:") || has("\"switches\"")) return "topograph";
  return "";
}

// The error for a file that no importer reads.
Error NotAFabric(const manifest::Source& source) {
  const std::string head = source.text.substr(0, source.text.find('\n'));
  const auto has = [&](const char* word) { return head.find(word) != std::string::npos; };
  const std::string formats =
      "an ibnetdiscover dump, a topograph model, a Slurm topology.conf "
      "or topology.yaml";
  if (has("<system") || has("<graphs")) {
    return Invalid(source.name +
                   ": line 1: this is an NCCL topology, which describes the inside of one node; "
                   "import reads the network between nodes: " +
                   formats + ", or a table");
  }
  const bool jobs =
      has("job_id") || has("submit") || has("duration") || has("creation_time") || has("JobID");
  if (jobs && (has(",") || has("|"))) {
    return Invalid(
        source.name +
        ": line 1: this looks like a trace of jobs; import reads the network between nodes: " +
        formats + ", or a table with a row for each node");
  }
  return Invalid(source.name + ": is not " + formats +
                 "; for a table with a row for each node, name the columns of its levels with "
                 "--levels WIDEST,...,NARROWEST");
}

// Whether a Slurm file is a topology.yaml: by its text, or by its name if the text is not
// recognised.
bool IsTopologyYaml(const manifest::Source& source) {
  return import::HasTopologyKey(source.text) || source.name.ends_with(".yaml");
}

Result<import::ImportedCluster> ReadFabric(const manifest::Source& source,
                                           const ImportArguments& arguments,
                                           const import::ImportOptions& options) {
  std::string format = arguments.format;
  if (format.empty() && !arguments.levels.empty()) format = "csv";
  if (format.empty()) format = GuessFormat(source.text);
  if (format == "slurm" && IsTopologyYaml(source)) {
    return import::ImportSlurmYaml(source, arguments.topology, options);
  }
  if (!arguments.topology.empty()) {
    return Invalid("--topology: " + source.name +
                   " holds one topology; only a Slurm topology.yaml can hold several");
  }
  if (format == "ibnetdiscover") return import::ImportIbnetdiscover(source, options);
  if (format == "slurm") return import::ImportSlurm(source, options);
  if (format == "csv") {
    return import::ImportCsv(source, {arguments.levels, arguments.columns}, options);
  }
  if (format != "topograph") return NotAFabric(source);
  const auto model = manifest::ReadDocument(source);
  if (!model) return model.error();
  auto cluster = import::ImportTopograph(*model, source.name, options);
  if (cluster) return cluster;
  return Error{cluster.error().kind, manifest::WithLine({source}, cluster.error().message)};
}

Result<import::ImportedCluster> Import(const ImportArguments& arguments) {
  const auto source = program::ReadSource(arguments.file);
  if (!source) return source.error();
  import::ImportOptions options;
  if (arguments.gpus_per_node > 0) options.gpus_per_node = arguments.gpus_per_node;
  options.resource_name = arguments.resource;
  options.fabric_name = arguments.fabric_name;
  auto cluster = ReadFabric(*source, arguments, options);
  if (!cluster) return cluster;
  if (Status links = import::AddLinks(arguments.links, *cluster); !links) return links.error();
  return cluster;
}

}  // namespace

int RunFabricShow(const ShowArguments& arguments) {
  const auto cluster = ReadCluster(arguments.input);
  if (!cluster) return Fail(cluster.error(), arguments.input);
  Remark(cluster->notes);
  if (arguments.output != "table") {
    return Print(Encode(report::FabricsJson(*cluster), arguments.output), kDone);
  }
  std::string text;
  for (const cluster::ClusterFabric& fabric : cluster->fabrics) {
    if (!text.empty()) text += "\n";
    text += render::FabricText(fabric, TextStyle(), {.nodes = arguments.nodes});
  }
  return Print(text, kDone);
}

int RunFabricGenerate(const GenerateArguments& arguments) {
  if (arguments.list) return Print(DesignTable(), kDone);
  designs::DesignOptions options;
  options.design = arguments.design;
  options.geometry = arguments.geometry;
  options.fabric_name = arguments.fabric_name;
  options.nodes = arguments.nodes;
  options.fragmented_percent = arguments.fragmented;
  options.seed = arguments.seed;
  options.gpus_per_node = arguments.gpus_per_node;
  auto added = ReadAccelerators(arguments.accelerators);
  if (!added) return Fail(added.error());
  if (const Status known = CheckAcceleratorName(arguments.geometry.accelerator, *added); !known) {
    return Fail(known.error());
  }
  options.accelerators = *std::move(added);
  return PrintManifests(designs::GenerateDesign(options));
}

int RunFabricImport(const ImportArguments& arguments) { return PrintManifests(Import(arguments)); }

int RunMap(const MapArguments& arguments) {
  if (!arguments.serve.empty()) return ServeMap(arguments);
  const auto cluster = ReadCluster(arguments.input);
  if (!cluster) return Fail(cluster.error(), arguments.input);
  const auto report = PlanCluster(*cluster, {.order = OrderOf(arguments.input, "")});
  if (!report) return Fail(report.error(), arguments.input);
  Remark(report->notes);
  const int code = report->AllPlaced() ? kDone : kNotPlaced;
  if (arguments.output == "svg") {
    const auto index = arguments.fabric.empty() ? std::optional<std::size_t>(0)
                                                : cluster->FindFabric(arguments.fabric);
    if (!index || *index >= cluster->fabrics.size()) {
      return Fail(Invalid("--fabric: no fabric is called \"" + arguments.fabric + "\""));
    }
    return Print(render::MapSvg(render::BuildMap(*cluster, *report, *index)), code);
  }
  std::vector<render::MapInput> maps;
  for (std::size_t f = 0; f < cluster->fabrics.size(); ++f) {
    maps.push_back(render::BuildMap(*cluster, *report, f));
  }
  return Print(render::MapHtml(maps), code);
}

}  // namespace weft::cli
