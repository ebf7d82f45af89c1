// The commands `weft fabric ...` of the command line.
#include <limits>

#include "operator/cli/command_line.h"
#include "operator/designs/design.h"
#include "operator/designs/reference_design.h"
#include "operator/fabric/link_types.h"
#include "operator/import/formats.h"
#include "operator/import/imported_cluster.h"
#include "operator/outlook/accelerators.h"
#include "operator/program/help.h"

namespace weft::cli {

namespace {

constexpr const char* kGeometry = "Racks of your own";
constexpr const char* kTable = "Tables (CSV)";
constexpr const char* kLinks = "Links";

std::vector<std::string> DesignNames() {
  std::vector<std::string> names;
  for (const designs::Design& design : designs::Designs()) names.emplace_back(design.name);
  return names;
}

std::vector<std::string> LinkNames() {
  std::vector<std::string> names;
  for (const fabric::LinkType& type : fabric::KnownLinkTypes()) names.emplace_back(type.name);
  return names;
}

std::vector<std::string> AcceleratorNames() {
  std::vector<std::string> names;
  for (const outlook::Accelerator& one : outlook::KnownAccelerators()) names.emplace_back(one.name);
  return names;
}

}  // namespace

void CommandLine::AddShow(CLI::App* fabric) {
  CLI::App* show = Add(fabric, "show", "Show the tree of levels with their free and used GPUs",
                       "  weft fabric show -f cluster.yaml\n"
                       "  weft fabric show -f cluster.yaml --nodes\n"
                       "  weft fabric show --context gpu-east",
                       [this] { return RunFabricShow(show_); });
  AddInput(show, show_.input);
  AddOutput(show, show_.output, {"table", "json", "yaml"});
  AddWatch(show, show_.input);
  show->add_flag("--nodes", show_.nodes, "Also list every node")->group("Output");
}

void CommandLine::AddGenerate(CLI::App* fabric) {
  CLI::App* generate = Add(
      fabric, "generate",
      "Write the Fabric and Nodes of a reference design, or of racks that you describe",
      "  weft fabric generate --list\n"
      "  weft fabric generate --design dgx-h100-superpod --fragmented 35 > cluster.yaml\n"
      "  weft fabric generate --racks 15 --nodes-per-rack 10 --link RoCE400 --taper 300\n"
      "  weft fabric generate --racks 30 --nodes-per-rack 5 --accelerator H100\n"
      "  weft fabric generate --racks 8 --nodes-per-rack 18 --gpus-per-node 4 --scale-up 18 \\\n"
      "    --rails 4 --link leaf=InfiniBandNDR --link outside=RoCE400 --fabric-name east",
      [this] { return RunFabricGenerate(generate_); });
  generate->add_flag("--list", generate_.list, "List the designs");
  Choice(generate->add_option("--design", generate_.design, "Name of a design"), "NAME",
         DesignNames());
  generate
      ->add_option("--nodes", generate_.nodes,
                   "Number of nodes (default: the design's, see --list)")
      ->option_text("NUMBER")
      ->check(program::WholeNumber(1, designs::kMaxDesignNodes));
  generate
      ->add_option("--gpus-per-node", generate_.gpus_per_node,
                   "Number of GPUs in each node (default: the design's, or 8)")
      ->option_text("NUMBER")
      ->check(program::WholeNumber(1, import::kMaxGpusPerNode));
  generate
      ->add_option("--fragmented", generate_.fragmented,
                   "Percentage of all GPUs that pods of earlier jobs hold")
      ->option_text("PERCENT")
      ->check(program::WholeNumber(0, 100));
  generate->add_option("--seed", generate_.seed, "Random seed for the earlier jobs")
      ->option_text("NUMBER")
      ->check(program::WholeNumber(0, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  generate
      ->add_option("--fabric-name", generate_.fabric_name,
                   "Name of the Fabric; node names begin with it, and the Fabric selects only its "
                   "own nodes, so that several fabrics fit in one cluster (default: default)")
      ->option_text("NAME");
  AddAccelerators(generate, generate_.accelerators);
  AddGeometry(generate);
}

void CommandLine::AddGeometry(CLI::App* generate) {
  designs::Geometry& geometry = generate_.geometry;
  const auto number = [&](const char* name, int& value, const char* what) {
    return generate->add_option(name, value, what)
        ->option_text("NUMBER")
        ->check(program::WholeNumber(1, designs::kMaxDesignNodes))
        ->group(kGeometry);
  };
  number("--racks", geometry.racks, "Number of racks; a rack is a domain of level leaf");
  number("--nodes-per-rack", geometry.nodes_per_rack, "Number of nodes in each rack (default: 16)");
  number("--racks-per-pod", geometry.racks_per_pod,
         "Number of racks in each pod; a pod is a domain of level spine (default: no pods)");
  generate
      ->add_option(
          "--taper", geometry.taper_percents,
          "Oversubscription in percent between racks and, after a comma, between pods; 200 "
          "is 2:1 (default: 100)")
      ->delimiter(',')
      ->option_text("PERCENT,...")
      ->check(program::WholeNumber(1, designs::kMaxTaperPercent))
      ->group(kGeometry);
  AddGeometryLinks(generate);
  CLI::Option* accelerator =
      generate
          ->add_option("--accelerator", geometry.accelerator,
                       "The Fabric's acceleratorModel, for predictions: a name of Weft's table, "
                       "such as H100, or of --accelerators (default: none)")
          ->option_text("NAME")
          ->group(kGeometry);
  choices_[accelerator] = AcceleratorNames();
  generate
      ->add_option("--rack-watts", geometry.rack_watts,
                   "Most watts that the GPUs of one rack may draw with their servers, at full "
                   "power, such as 30000 (default: no limit)")
      ->option_text("WATTS")
      ->check(program::WholeNumber(1, designs::kMaxRackWatts))
      ->group(kGeometry);
}

void CommandLine::AddGeometryLinks(CLI::App* generate) {
  designs::Geometry& geometry = generate_.geometry;
  CLI::Option* link =
      generate
          ->add_option(
              "--link", geometry.links,
              "Type of the links of all levels, or LEVEL=TYPE for one: leaf (inside a rack), "
              "spine (between the racks of a pod), outside (between pods, or between racks "
              "without pods) or nvlink (inside a scale-up domain); may be repeated "
              "(default: InfiniBandNDR)")
          ->delimiter(',')
          ->option_text("TYPE,...")
          ->group(kGeometry);
  choices_[link] = LinkNames();
  Choice(generate->add_option("--node-link", geometry.node_link,
                              "Type of the links inside a node, and inside a scale-up domain "
                              "unless --link nvlink=TYPE names another (default: NVLink4)"),
         "TYPE", LinkNames())
      ->group(kGeometry);
  generate
      ->add_option("--rails", geometry.rails,
                   "Number of rails of each node; in every rack each rail has its own leaf switch, "
                   "which a label of the node names (default: no rails)")
      ->option_text("NUMBER")
      ->check(program::WholeNumber(1, designs::kMaxRails))
      ->group(kGeometry);
  generate
      ->add_option(
          "--scale-up", geometry.nodes_per_scale_up,
          "Number of nodes in each scale-up (NVLink) domain, such as 18 for NVL72: a rack, "
          "an equal part of one, or several racks (default: no scale-up domains)")
      ->option_text("NODES")
      ->check(program::WholeNumber(1, designs::kMaxDesignNodes))
      ->group(kGeometry);
}

void CommandLine::AddImport(CLI::App* fabric) {
  CLI::App* command = Add(
      fabric, "import", "Write the Fabric and Nodes that a fabric dump, model or table describes",
      "  ibnetdiscover > fabric.txt && weft fabric import fabric.txt --gpus-per-node 8\n"
      "  weft fabric import /etc/slurm/topology.conf --link InfiniBandNDR\n"
      "  weft fabric import /etc/slurm/topology.yaml --topology gpu\n"
      "  weft fabric import topo.csv --levels DSW,PSW,ASW --gpus-per-node 8\n"
      "  weft fabric import nodes.csv --levels spine=pod,leaf=rack --gpu-column gpu \\\n"
      "    --cpu-column cpu_milli:m --memory-column memory_mib:Mi \\\n"
      "    --link RoCE400 --oversubscription spine=300",
      [this] { return RunFabricImport(import_); });
  command->add_option("file", import_.file, "The file to read; - for standard input")
      ->required()
      ->option_text("FILE");
  for (const import::Format& format : import::Formats()) {
    const std::string name(format.name);
    command->add_flag_callback(
        "--" + name, [this, name] { import_.format = name; }, std::string(format.help));
  }
  command
      ->add_option("--topology", import_.topology,
                   "Topology to read from a topology.yaml with several (default: its "
                   "cluster_default)")
      ->option_text("NAME");
  command->add_option("--gpus-per-node", import_.gpus_per_node, "Number of GPUs in each node")
      ->option_text("NUMBER")
      ->check(program::WholeNumber(1, import::kMaxGpusPerNode));
  command->add_flag("--strict", import_.strict,
                    "Fail, and write nothing, if a line or a part of one cannot be read; without "
                    "it, a few of them are warnings");
  command->add_option("--resource", import_.resource, "Resource name of the GPUs")
      ->option_text("NAME")
      ->capture_default_str();
  command->add_option("--fabric-name", import_.fabric_name, "Name of the Fabric")
      ->option_text("NAME")
      ->capture_default_str();
  AddTable(command);
}

void CommandLine::AddTable(CLI::App* command) {
  const auto column = [&](const char* name, std::string& value, const char* what) {
    command->add_option(name, value, what)->option_text("COLUMN")->group(kTable);
  };
  command
      ->add_option("--levels", import_.levels,
                   "Columns of the levels, widest first; a level is named after its column, or by "
                   "LEVEL=COLUMN")
      ->delimiter(',')
      ->option_text("COLUMN,...")
      ->group(kTable);
  column("--node-column", import_.columns.node,
         "Column of the node's name (default: the first column not named in --levels)");
  column("--gpu-column", import_.columns.gpus, "Column of the node's number of GPUs");
  column("--product-column", import_.columns.product,
         "Column of the product name of the node's GPUs");
  column("--cpu-column", import_.columns.cpu,
         "Column of the node's CPUs, such as 96 or 96000m; COLUMN:m if its numbers are thousandths "
         "of a CPU");
  column("--memory-column", import_.columns.memory,
         "Column of the node's memory, such as 1024Gi; COLUMN:Mi if its numbers are MiB (also Ki, "
         "Gi, k, M, G), else they are bytes");
  command
      ->add_option("--link", import_.links.links,
                   "Type of the links of all levels, or LEVEL=TYPE for one level, where LEVEL may "
                   "also be outside (the links between the widest domains), torus (the links "
                   "between the nodes of a torus) or the name of the scale-up domains; may be "
                   "repeated")
      ->delimiter(',')
      ->option_text("TYPE,...")
      ->group(kLinks);
  command
      ->add_option("--oversubscription", import_.links.oversubscription,
                   "LEVEL=PERCENT: oversubscription of a level; 200 is 2:1")
      ->delimiter(',')
      ->option_text("LEVEL=PERCENT,...")
      ->group(kLinks);
  Choice(command->add_option("--node-link", import_.links.node_link,
                             "Type of the links inside a node"),
         "TYPE", LinkNames())
      ->group(kLinks);
}

}  // namespace weft::cli
