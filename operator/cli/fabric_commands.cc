#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "operator/cli/accelerator_file.h"
#include "operator/cli/commands.h"
#include "operator/cli/serve_map.h"
#include "operator/cli/session.h"
#include "operator/designs/design.h"
#include "operator/designs/reference_design.h"
#include "operator/import/formats.h"
#include "operator/import/import_links.h"
#include "operator/import/imported_cluster.h"
#include "operator/import/write_manifests.h"
#include "operator/program/sources.h"
#include "operator/render/fabric_text.h"
#include "operator/render/map_html.h"
#include "operator/render/map_svg.h"
#include "operator/render/table.h"
#include "operator/report/overview.h"

namespace weft::cli {

namespace {

void Warn(const std::vector<std::string>& warnings) {
  for (const std::string& one : warnings) std::cerr << "weft: warning: " << one << "\n";
}

int PrintManifests(const Result<import::ImportedCluster>& cluster) {
  if (!cluster) return Fail(cluster.error());
  Warn(cluster->warnings);
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

// Slurm looks for an included file in the folder of its configuration.
Result<manifest::Source> ReadIncluded(const std::string& path, const std::string& conf) {
  return program::ReadSource(std::filesystem::path(conf).replace_filename(path).string());
}

Result<import::ImportedCluster> Import(const ImportArguments& arguments) {
  const auto source = program::ReadSource(arguments.file);
  if (!source) return source.error();
  import::ImportRequest request{.format = arguments.format,
                                .topology = arguments.topology,
                                .table = {arguments.levels, arguments.columns},
                                .include = ReadIncluded};
  if (arguments.gpus_per_node > 0) request.options.gpus_per_node = arguments.gpus_per_node;
  request.options.resource_name = arguments.resource;
  request.options.fabric_name = arguments.fabric_name;
  auto cluster = import::Import(*source, request);
  if (!cluster) return cluster;
  if (arguments.strict && !cluster->warnings.empty()) {
    Warn(cluster->warnings);
    return Invalid(arguments.file + ": --strict: what the warnings name cannot be read");
  }
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
