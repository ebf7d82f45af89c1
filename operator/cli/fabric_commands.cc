#include <iostream>
#include <nlohmann/json.hpp>

#include "operator/cli/commands.h"
#include "operator/cli/serve_map.h"
#include "operator/cli/session.h"
#include "operator/cli/sources.h"
#include "operator/decide/overview.h"
#include "operator/manifest/import_csv.h"
#include "operator/manifest/import_ibnetdiscover.h"
#include "operator/manifest/import_slurm.h"
#include "operator/manifest/import_topograph.h"
#include "operator/manifest/imported_cluster.h"
#include "operator/render/fabric_text.h"
#include "operator/render/map_html.h"
#include "operator/render/map_svg.h"
#include "operator/render/table.h"
#include "operator/simulate/reference_design.h"

namespace weft::cli {

namespace {

int PrintManifests(const Result<manifest::ImportedCluster>& cluster) {
  if (!cluster) return Fail(cluster.error());
  for (const std::string& note : cluster->notes) std::cerr << "weft: note: " << note << "\n";
  return Print(manifest::WriteManifests(*cluster), kDone);
}

std::string DesignTable() {
  render::Table table({{"DESIGN", render::Align::kLeft},
                       {"NODES", render::Align::kRight},
                       {"GPUS", render::Align::kRight},
                       {"WHAT", render::Align::kLeft}});
  for (const simulate::Design& design : simulate::Designs()) {
    table.Add({{std::string(design.name)},
               {std::to_string(design.default_nodes)},
               {std::to_string(design.gpus_per_node)},
               {std::string(design.summary)}});
  }
  return table.Show(TextStyle().colour);
}

// By how the text begins, comments and blank lines aside.
std::string GuessFormat(const std::string& text) {
  const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
  if (has("switchguid=") || has("caguid=")) return "ibnetdiscover";
  if (has("SwitchName=") || has("BlockName=")) return "slurm";
  if (has("switches:") || has("blocks:") || has("\"switches\"")) return "topograph";
  return "";
}

Result<manifest::ImportedCluster> Import(const ImportArguments& arguments) {
  if (arguments.gpus_per_node < 0 || arguments.gpus_per_node > manifest::kMaxGpusPerNode) {
    return Invalid("--gpus-per-node: must be between 1 and " +
                   std::to_string(manifest::kMaxGpusPerNode));
  }
  auto source = ReadSource(arguments.file);
  if (!source) return source.error();
  manifest::ImportOptions options;
  if (arguments.gpus_per_node > 0) options.gpus_per_node = arguments.gpus_per_node;
  options.resource_name = arguments.resource;
  options.fabric_name = arguments.fabric_name;
  std::string format = arguments.format;
  if (format.empty() && !arguments.levels.empty()) format = "csv";
  if (format.empty()) format = GuessFormat(source->text);
  if (format == "ibnetdiscover") return manifest::ImportIbnetdiscover(*source, options);
  if (format == "slurm") return manifest::ImportSlurm(*source, options);
  if (format == "csv") {
    return manifest::ImportCsv(*source, {arguments.levels, arguments.node_column}, options);
  }
  if (format == "topograph") {
    const auto model = manifest::ReadDocument(*source);
    if (!model) return model.error();
    return manifest::ImportTopograph(*model, source->name, options);
  }
  return Invalid(source->name +
                 ": is no ibnetdiscover dump, topograph model or Slurm topology.conf; for a table "
                 "say --csv --levels WIDEST,...,NARROWEST");
}

}  // namespace

int RunFabricShow(const ShowArguments& arguments) {
  const auto cluster = ReadCluster(arguments.input);
  if (!cluster) return Fail(cluster.error());
  Remark(cluster->notes);
  if (arguments.output != "table") {
    return Print(Encode(decide::FabricsJson(*cluster), arguments.output), kDone);
  }
  std::string text;
  for (const decide::ClusterFabric& fabric : cluster->fabrics) {
    if (!text.empty()) text += "\n";
    text += render::FabricText(fabric, TextStyle(), {.nodes = arguments.nodes});
  }
  return Print(text, kDone);
}

int RunFabricGenerate(const GenerateArguments& arguments) {
  if (arguments.list) return Print(DesignTable(), kDone);
  if (arguments.design.empty()) {
    return Fail(Invalid("--design: is required; `weft fabric generate --list` names them"));
  }
  simulate::DesignOptions options;
  options.design = arguments.design;
  options.nodes = arguments.nodes;
  options.fragmented_percent = arguments.fragmented;
  options.seed = arguments.seed;
  options.gpus_per_node = arguments.gpus_per_node;
  return PrintManifests(simulate::GenerateDesign(options));
}

int RunFabricImport(const ImportArguments& arguments) { return PrintManifests(Import(arguments)); }

int RunMap(const MapArguments& arguments) {
  if (!arguments.serve.empty()) return ServeMap(arguments);
  const auto cluster = ReadCluster(arguments.input);
  if (!cluster) return Fail(cluster.error());
  const auto report = PlanCluster(*cluster, {.order = OrderOf(arguments.input, "")});
  if (!report) return Fail(report.error());
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
