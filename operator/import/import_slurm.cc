#include "operator/import/import_slurm.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "operator/api/json_reader.h"
#include "operator/import/import_slurm_yaml.h"
#include "operator/import/import_text.h"
#include "operator/import/skipped_lines.h"
#include "operator/import/slurm_conf.h"
#include "operator/import/slurm_domains.h"
#include "operator/import/slurm_torus.h"

namespace weft::import {
namespace {

constexpr std::size_t kMaxIncludeDepth = 8;
constexpr std::size_t kMaxIncludes = 256;

// What the records of a file define: one plug-in reads one kind.
enum class Kind { kNone, kSwitches, kBlocks, kRings };

// A record's pairs; "" for a key that it does not have.
struct Record {
  Kind kind = Kind::kNone;
  std::string name, nodes, switches, block_sizes;
  bool aggregates = false;  // blocks of other records, in what `scontrol show topology` prints
};

// The nodes of a switch that has children, which may be those of the children.
struct NodesAbove {
  std::string name, nodes, where;
};

// Whether the key has no meaning here: an old one, and those that `scontrol show topology` adds.
bool IsIgnored(std::string_view key) {
  return key == "linkspeed" || key == "level" || key == "blockindex" || key == "blocksize" ||
         key == "ringsize";
}

const char* KeyOf(Kind kind) {
  return kind == Kind::kSwitches ? "SwitchName" : kind == Kind::kBlocks ? "BlockName" : "RingName";
}

class TopologyReader {
 public:
  TopologyReader(const manifest::Source& source, const ImportOptions& options,
                 const IncludeReader& include)
      : source_(source), options_(options), include_(include), skipped_(source.name) {}

  Result<ImportedCluster> Read() {
    if (Status read = ReadFile(source_, 0); !read) return read.error();
    Result<ImportedCluster> cluster = Finish();
    return cluster ? skipped_.Judge(*std::move(cluster)) : skipped_.FirstOr(cluster.error());
  }

 private:
  // Fails only where a file that is included cannot be read.
  Status ReadFile(const manifest::Source& file, std::size_t depth) {
    ConfLines lines(file.text);
    while (lines.Next()) {
      where_ = (depth > 0 ? file.name + ": " : "") + "line " + std::to_string(lines.number());
      Result<std::string> path = IncludedPath(lines.line());
      if (path && !path->empty()) {
        if (Status read = ReadIncluded(*path, depth); !read) return read;
        continue;
      }
      const Status read = path ? ReadRecord(lines.line()) : path.error();
      if (read) {
        skipped_.CountRead();
      } else {
        skipped_.SkipLine(where_, read.error().message);
      }
    }
    return {};
  }

  Status ReadIncluded(const std::string& path, std::size_t depth) {
    const std::string place = source_.name + ": " + where_ + ": Include " + Quoted(path) + ": ";
    if (!include_) return Invalid(place + "no other file is read here: put its lines here instead");
    if (path.find('*') != path.npos) return Invalid(place + "Slurm reads no pattern of file names");
    if (depth == kMaxIncludeDepth || ++includes_ > kMaxIncludes) {
      return Invalid(place + "too many files include each other");
    }
    const Result<manifest::Source> file = include_(path, source_.name);
    if (!file) return Invalid(place + file.error().message);
    return ReadFile(*file, depth + 1);
  }

  Result<Record> ParseRecord(const std::string& text) {
    const Result<std::vector<ConfPair>> pairs = ParseConfPairs(text);
    if (!pairs) return pairs.error();
    Record record;
    for (const ConfPair& pair : *pairs) {
      const Kind kind = pair.key == "switchname"  ? Kind::kSwitches
                        : pair.key == "blockname" ? Kind::kBlocks
                        : pair.key == "ringname"  ? Kind::kRings
                                                  : Kind::kNone;
      if (kind != Kind::kNone) {
        if (record.kind != Kind::kNone) return Invalid("a second name, " + Quoted(pair.value));
        record.kind = kind;
        record.name = pair.value;
      } else if (pair.key == "aggregatedblock") {
        record.aggregates = true;
      } else if (!IsIgnored(pair.key)) {
        Set(pair, record);
      }
    }
    return record;
  }

  // Slurm takes the last of several equal keys.
  void Set(const ConfPair& pair, Record& record) {
    std::string* value = pair.key == "nodes"      ? &record.nodes
                         : pair.key == "switches" ? &record.switches
                         // Slurm 23.11 called it BlockLevels.
                         : pair.key == "blocksizes" || pair.key == "blocklevels"
                             ? &record.block_sizes
                             : nullptr;
    if (value == nullptr) {
      skipped_.SkipPart(where_, "unknown key " + Quoted(pair.key));
      return;
    }
    if (!value->empty()) {
      skipped_.SkipPart(where_, Quoted(pair.key) + " is given twice: " + Quoted(*value));
    }
    *value = pair.value;
  }

  Status ReadRecord(const std::string& text) {
    Result<Record> record = ParseRecord(text);
    if (!record) return record.error();
    if (record->aggregates) return {};
    if (!record->block_sizes.empty()) block_sizes_ = record->block_sizes;
    if (record->kind == Kind::kNone) {
      if (!record->block_sizes.empty()) return {};
      return Invalid("expected SwitchName=, BlockName=, RingName= or BlockSizes= in " +
                     Quoted(text));
    }
    if (LowerCase(record->name) == "default") return {};
    if (kind_ != Kind::kNone && record->kind != kind_) {
      return Invalid(std::string(KeyOf(record->kind)) + " in a file of " + KeyOf(kind_));
    }
    Status read = record->kind == Kind::kRings ? ReadRing(*record) : ReadDomain(*record);
    if (read) kind_ = record->kind;
    return read;
  }

  Status ReadRing(const Record& record) {
    const auto nodes = ExpandHostList(record.nodes, kMaxImportedNodes);
    if (!nodes) return Invalid("Nodes: " + nodes.error().message);
    rings_.push_back({{"ring", record.name}, {"nodes", record.nodes}});
    ring_where_.push_back(where_);
    return {};
  }

  Status ReadDomain(const Record& record) {
    if (Status begun = domains_.Begin(record.name, where_); !begun) return begun;
    if (record.kind == Kind::kSwitches) {
      Status added = domains_.AddChildren(record.switches, where_ + ": Switches");
      if (!added) return Invalid("Switches: " + added.error().message);
    } else if (!record.switches.empty()) {
      skipped_.SkipPart(where_, "a block has no \"switches\"");
    }
    if (!record.switches.empty()) {
      above_.push_back({record.name, record.nodes, where_});
      const auto nodes = ExpandHostList(record.nodes, kMaxImportedNodes);
      return nodes ? Status() : Invalid("Nodes: " + nodes.error().message);
    }
    Status added = domains_.AddNodes(record.nodes, where_);
    return added ? added : Invalid("Nodes: " + added.error().message);
  }

  Result<ImportedCluster> Finish() {
    if (kind_ == Kind::kRings) return FinishRings();
    for (const NodesAbove& above : above_) {
      if (Status added = domains_.AddNodesAbove(above.name, above.nodes, above.where); !added) {
        return Invalid(source_.name + ": " + above.where + ": Nodes: " + added.error().message);
      }
    }
    Result<ImportedCluster> cluster = domains_.Finish("", options_);
    if (!cluster) return Invalid(source_.name + ": " + cluster.error().message);
    if (kind_ != Kind::kBlocks) return cluster;
    const std::vector<std::string> notes =
        NotesOnBlocks(block_sizes_.empty() ? "" : "BlockSizes=" + block_sizes_);
    cluster->notes.insert(cluster->notes.begin(), notes.begin(), notes.end());
    return cluster;
  }

  // A topology.yaml has the same rings.
  Result<ImportedCluster> FinishRings() {
    const nlohmann::json document = {{"rings", rings_}};
    api::Decoding decoding(document, source_.name);
    Result<ImportedCluster> cluster = ReadSlurmRings(decoding, decoding.Root(), options_);
    if (cluster) return cluster;
    std::string message = cluster.error().message;
    for (std::size_t i = ring_where_.size(); i-- > 0;) {
      const std::string path = "rings[" + std::to_string(i) + "]";
      const std::size_t at = message.find(path);
      if (at != message.npos) message.replace(at, path.size(), ring_where_[i]);
    }
    return Invalid(source_.name + ": " + message);
  }

  const manifest::Source& source_;
  const ImportOptions& options_;
  const IncludeReader& include_;
  SkippedLines skipped_;
  SlurmDomains domains_{skipped_};
  nlohmann::json rings_ = nlohmann::json::array();
  std::vector<std::string> ring_where_;
  std::vector<NodesAbove> above_;
  Kind kind_ = Kind::kNone;
  std::string where_;  // of the current line
  std::string block_sizes_;
  std::size_t includes_ = 0;
};

// Whether the line has "Key =".
bool HasKey(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == line.npos || (at > 0 && line[at - 1] != ' ' && line[at - 1] != '\t')) return false;
  return Trim(line.substr(at + key.size())).starts_with('=');
}

// Whether a line defines a switch, block or ring, or all lines include other files.
bool HasTopologyRecord(std::string_view text) {
  bool includes = false, others = false;
  ConfLines lines(text);
  while (lines.Next()) {
    const std::string line = LowerCase(lines.line());
    for (const std::string_view key : {"switchname", "blockname", "ringname"}) {
      if (HasKey(line, key)) return true;
    }
    const Result<std::string> path = IncludedPath(line);
    const bool included = path && !path->empty();
    (included ? includes : others) = true;
  }
  return includes && !others;
}

}  // namespace

bool LooksLikeSlurm(std::string_view text) {
  return HasTopologyRecord(text) || HasTopologyKey(text);
}

bool IsTopologyYaml(const manifest::Source& source) {
  return HasTopologyKey(source.text) || source.name.ends_with(".yaml") ||
         source.name.ends_with(".yml");
}

Result<ImportedCluster> ImportSlurm(const manifest::Source& source, const ImportOptions& options,
                                    const IncludeReader& include) {
  return TopologyReader(source, options, include).Read();
}

}  // namespace weft::import
