#include "operator/import/import_slurm.h"

#include <map>
#include <utility>

#include "operator/import/import_slurm_yaml.h"
#include "operator/import/import_text.h"
#include "operator/import/slurm_domains.h"

namespace weft::import {
namespace {

using Record = std::map<std::string, std::string>;  // lower-case key -> value

// The line without its comment: '#' outside quotes, unless escaped.
std::string_view WithoutComment(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted && (i == 0 || line[i - 1] != '\\')) return line.substr(0, i);
  }
  return line;
}

// Takes one "Key=Value" off the front of `text`, with or without blanks around '='; the value may
// be quoted, and is empty only then. Source  SchedMD/slurm src/common/parse_config.c,
// keyvalue_pattern.
Result<std::pair<std::string, std::string>> TakePair(std::string_view& text) {
  constexpr std::string_view kBlank = " \t";
  const std::size_t end_of_key = text.find_first_of("= \t");
  const std::size_t equals = text.find_first_not_of(kBlank, end_of_key);
  if (equals == std::string_view::npos || text[equals] != '=' || equals == 0) {
    return Invalid("expected Key=Value at " + Quoted(text));
  }
  std::string key = LowerCase(text.substr(0, end_of_key));
  text.remove_prefix(std::min(text.find_first_not_of(kBlank, equals + 1), text.size()));
  std::string value;
  if (!text.empty() && text.front() == '"') {
    const std::size_t close = text.find('"', 1);
    if (close == std::string_view::npos) return Invalid("unbalanced quote at " + Quoted(text));
    value = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
    if (!text.empty() && kBlank.find(text.front()) == std::string_view::npos) {
      return Invalid("text after a closing quote at " + Quoted(text));
    }
  } else {
    const std::size_t end = std::min(text.find_first_of(kBlank), text.size());
    value = text.substr(0, end);
    text.remove_prefix(end);
  }
  return std::pair{std::move(key), std::move(value)};
}

Result<Record> ParseRecord(std::string_view text) {
  Record record;
  for (text = Trim(text); !text.empty(); text = Trim(text)) {
    auto pair = TakePair(text);
    if (!pair) return pair.error();
    if (!record.insert(*pair).second) return Invalid(Quoted(pair->first) + " is given twice");
  }
  return record;
}

// "Include PATH", in any case.
bool IsInclude(std::string_view text) {
  constexpr std::string_view kInclude = "include";
  text = Trim(text);
  return LowerCase(text.substr(0, kInclude.size())) == kInclude &&
         text.find_first_of(" \t") == kInclude.size() &&
         Trim(text.substr(kInclude.size()))[0] != '=';
}

class TopologyReader {
 public:
  TopologyReader(const manifest::Source& source, const ImportOptions& options)
      : source_(source), options_(options) {}

  Result<ImportedCluster> Read() {
    Lines lines(source_.text);
    std::string logical;
    std::size_t first = 0;
    while (lines.Next()) {
      std::string_view line = Trim(WithoutComment(lines.line()));
      if (logical.empty()) first = lines.number();
      const bool continued = !line.empty() && line.back() == '\\';
      if (continued) line.remove_suffix(1);
      logical += line;
      if (continued) continue;
      if (Status status = ReadRecord(logical, first); !status) return status.error();
      logical.clear();
    }
    if (Status status = ReadRecord(logical, first); !status) return status.error();
    return Finish();
  }

 private:
  Error At(std::size_t line, const std::string& what) const {
    return AtLine(source_.name, line, what);
  }

  Status ReadRecord(const std::string& text, std::size_t line) {
    if (Trim(text).empty()) return {};
    if (IsInclude(text)) {
      return At(line,
                "another file is not read: put its lines here instead of " + Quoted(Trim(text)));
    }
    Result<Record> record = ParseRecord(text);
    if (!record) return At(line, record.error().message);
    const bool is_switch = record->contains("switchname");
    const bool is_block = record->contains("blockname");
    if (record->contains("blocksizes") && record->size() == 1) {
      block_sizes_ = record->at("blocksizes");
      return {};
    }
    if (is_switch == is_block) {
      return At(line, "expected SwitchName=, BlockName= or BlockSizes= in " + Quoted(text));
    }
    for (const auto& [key, unused] : *record) {
      const bool known = key == "nodes" || key == "switchname" || key == "blockname" ||
                         key == "linkspeed" || (is_switch && key == "switches");
      if (!known) return At(line, "unknown key " + Quoted(key));
    }
    const std::string& name = record->at(is_switch ? "switchname" : "blockname");
    if (LowerCase(name) == "default") return {};
    if (is_block) blocks_ = true;
    if (is_switch) switches_ = true;
    if (blocks_ && switches_) return At(line, "switches and blocks in one file");
    return ReadDomain(name, *record, line);
  }

  Status ReadDomain(const std::string& name, const Record& record, std::size_t line) {
    const std::string where = "line " + std::to_string(line);
    if (Status status = domains_.Begin(name, where); !status) {
      return At(line, status.error().message);
    }
    if (const auto switches = record.find("switches"); switches != record.end()) {
      Status status = domains_.AddChildren(switches->second, where + ": Switches");
      if (!status) return At(line, "Switches: " + status.error().message);
    }
    if (const auto nodes = record.find("nodes"); nodes != record.end()) {
      Status status = domains_.AddNodes(nodes->second, where);
      if (!status) return At(line, "Nodes: " + status.error().message);
    }
    return {};
  }

  Result<ImportedCluster> Finish() {
    Result<ImportedCluster> cluster = domains_.Finish("", options_);
    if (!cluster) return Invalid(source_.name + ": " + cluster.error().message);
    if (!blocks_) return cluster;
    const std::vector<std::string> notes =
        NotesOnBlocks(block_sizes_.empty() ? "" : "BlockSizes=" + block_sizes_);
    cluster->notes.insert(cluster->notes.begin(), notes.begin(), notes.end());
    return cluster;
  }

  const manifest::Source& source_;
  const ImportOptions& options_;
  SlurmDomains domains_;
  bool switches_ = false, blocks_ = false;
  std::string block_sizes_;
};

}  // namespace

bool LooksLikeSlurm(std::string_view text) {
  return HasAny(text, {"SwitchName=", "BlockName="}) || HasTopologyKey(text);
}

bool IsTopologyYaml(const manifest::Source& source) {
  return HasTopologyKey(source.text) || source.name.ends_with(".yaml");
}

Result<ImportedCluster> ImportSlurm(const manifest::Source& source, const ImportOptions& options) {
  return TopologyReader(source, options).Read();
}

}  // namespace weft::import
