#include "operator/import/import_csv.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "operator/base/quantity.h"
#include "operator/import/import_text.h"
#include "operator/import/import_tree.h"
#include "operator/import/skipped_lines.h"
#include "operator/manifest/text_form.h"

namespace weft::import {
namespace {

constexpr std::size_t kMaxColumns = 1024;
constexpr std::size_t kMaxCell = 4096;
constexpr const char* kCellTooLong = "a cell of more than 4096 bytes";

using Row = std::vector<std::string>;

// Reads one record after the other (RFC 4180; a bare "\n" ends a record too).
class Records {
 public:
  Records(std::string_view text, const std::string& source)
      : text_(manifest::WithoutByteOrderMark(text)), source_(source) {}

  bool done() const { return at_ >= text_.size(); }
  std::size_t line() const { return record_line_; }  // where the last record began
  Error At(const std::string& what) const { return AtLine(source_, record_line_, what); }

  // After an error, continues on the next line.
  Result<Row> Next() {
    record_line_ = line_;
    const std::size_t begin = at_;
    Result<Row> row = Read();
    if (!row) {
      const std::size_t end = text_.find('\n', begin);
      at_ = end == text_.npos ? text_.size() : end + 1;
      line_ = record_line_ + 1;
    }
    return row;
  }

 private:
  Result<Row> Read() {
    Row row;
    while (true) {
      if (row.size() == kMaxColumns) return At("more than 1024 columns");
      Result<std::string> cell = !done() && text_[at_] == '"' ? QuotedCell() : PlainCell();
      if (!cell) return cell.error();
      if (cell->size() > kMaxCell) return At(kCellTooLong);
      row.push_back(*std::move(cell));
      if (!done() && text_[at_] == ',') {
        ++at_;
        continue;
      }
      if (!done() && text_[at_] == '\r') ++at_;
      if (!done() && text_[at_] != '\n') return At("text after a closing quote");
      ++at_;
      ++line_;
      return row;
    }
  }

  Result<std::string> PlainCell() {
    const std::size_t end = std::min(text_.find_first_of(",\n\"", at_), text_.size());
    if (end < text_.size() && text_[end] == '"') return At("a quote inside an unquoted cell");
    std::string_view cell = text_.substr(at_, end - at_);
    at_ = end;
    return std::string(Trim(cell));
  }

  Result<std::string> QuotedCell() {
    std::string cell;
    for (++at_; !done(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        if (done() || text_[at_] != '"') return cell;
      }
      if (text_[at_] == '\n') ++line_;
      cell += text_[at_];
      if (cell.size() > kMaxCell) break;
    }
    return At(done() ? "a quoted cell never ends" : kCellTooLong);
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0, line_ = 1, record_line_ = 1;
};

// A column that holds one property of a node.
struct PropertyColumn {
  std::optional<std::size_t> at;
  std::string name, unit;  // the unit is appended to the cell
};

struct Columns {
  std::size_t node = 0;
  std::vector<std::size_t> level;  // one per level
  std::vector<TreeLevel> names;
  PropertyColumn gpus, product, cpu, memory;
};

Error NoColumn(const Records& records, const Row& header, const std::string& name) {
  std::string known;
  for (const std::string& column : header) {
    if (known.size() > 300) break;
    known += (known.empty() ? "" : ", ") + Quoted(column);
  }
  return records.At("no column " + Quoted(name) + "; the columns are " + known);
}

bool FitsLevelName(const std::string& name) {
  const bool edges = !name.empty() && name.front() != '-' && name.back() != '-';
  return edges && name.size() <= 40 && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

Result<PropertyColumn> FindProperty(const Records& records, const Row& header,
                                    const std::string& wanted) {
  PropertyColumn column;
  column.name = wanted;
  if (wanted.empty()) return column;
  auto found = std::find(header.begin(), header.end(), wanted);
  if (const auto colon = wanted.rfind(':'); found == header.end() && colon != wanted.npos) {
    column.name = wanted.substr(0, colon);
    column.unit = wanted.substr(colon + 1);
    found = std::find(header.begin(), header.end(), column.name);
  }
  if (found == header.end()) return NoColumn(records, header, column.name);
  column.at = static_cast<std::size_t>(found - header.begin());
  return column;
}

Status FindProperties(const Records& records, const Row& header, const CsvOptions::Columns& wanted,
                      Columns& columns) {
  const std::pair<const std::string*, PropertyColumn*> all[] = {{&wanted.gpus, &columns.gpus},
                                                                {&wanted.product, &columns.product},
                                                                {&wanted.cpu, &columns.cpu},
                                                                {&wanted.memory, &columns.memory}};
  for (const auto& [name, column] : all) {
    Result<PropertyColumn> found = FindProperty(records, header, *name);
    if (!found) return found.error();
    *column = *std::move(found);
  }
  return {};
}

// The cell of a property with its unit; "" if the row has none.
std::string CellOf(const Row& row, const PropertyColumn& column) {
  return !column.at || row[*column.at].empty() ? "" : row[*column.at] + column.unit;
}

// Reads the node's devices and size from a row.
class Properties {
 public:
  Properties(const Columns& columns, const ImportOptions& options)
      : columns_(columns), options_(options) {}

  Status Read(const Records& records, const Row& row, TreeNode& node) {
    if (const std::string gpus = CellOf(row, columns_.gpus); !gpus.empty()) {
      const auto number = ParseQuantity(gpus);
      if (!number || *number < 0 || *number > kMaxGpusPerNode) {
        return records.At(columns_.gpus.name + ": " + Quoted(gpus) +
                          " is not a number of GPUs from 0 to " + std::to_string(kMaxGpusPerNode));
      }
      node.gpus = static_cast<int>(*number);
    }
    if (const std::string product = CellOf(row, columns_.product); !product.empty()) {
      const bool amd = options_.resource_name.starts_with("amd.com/");
      std::string name = product;
      std::replace(name.begin(), name.end(), ' ', '-');  // as the vendors' labellers do it
      node.labels[amd ? kAmdProduct : kNvidiaProduct] = labels_.Shorten(name);
    }
    if (Status cpu = Quantity(records, row, columns_.cpu, true, node.cpu_millis); !cpu) return cpu;
    return Quantity(records, row, columns_.memory, false, node.memory_bytes);
  }

 private:
  static constexpr const char* kNvidiaProduct = "nvidia.com/gpu.product";
  static constexpr const char* kAmdProduct = "amd.com/gpu.product-name";

  static Status Quantity(const Records& records, const Row& row, const PropertyColumn& column,
                         bool millis, std::optional<std::int64_t>& amount) {
    const std::string text = CellOf(row, column);
    if (text.empty()) return {};
    const auto number = millis ? ParseMilliQuantity(text) : ParseQuantity(text);
    if (!number) return records.At(column.name + ": " + number.error().message);
    if (*number < 0) return records.At(column.name + ": " + Quoted(text) + " is negative");
    amount = *number;
    return {};
  }

  const Columns& columns_;
  const ImportOptions& options_;
  LabelNames labels_;
};

Result<Columns> FindColumns(const Records& records, const Row& header, const CsvOptions& table) {
  Columns columns;
  std::set<std::string> level_names{"node", "outside", "nvlink"};
  std::set<std::size_t> used;
  if (table.levels.empty()) return Invalid("--levels: names no column");
  if (table.levels.size() > kMaxImportedLevels) return Invalid("--levels: more than 16 levels");
  for (const std::string& level : table.levels) {
    const std::size_t equals = level.find('=');
    const std::string column = equals == std::string::npos ? level : level.substr(equals + 1);
    const std::string name = LowerCase(level.substr(0, equals));
    const auto found = std::find(header.begin(), header.end(), column);
    if (found == header.end()) return NoColumn(records, header, column);
    if (!FitsLevelName(name) || !level_names.insert(name).second) {
      return Invalid(
          "--levels: " + Quoted(name) +
          " cannot be the name of a level; give the level another name as NAME=COLUMN (lower-case "
          "letters, digits and hyphens, each name once, not node, outside or nvlink)");
    }
    columns.level.push_back(static_cast<std::size_t>(found - header.begin()));
    columns.names.push_back({name, "weft.dev/" + name});
    if (!used.insert(columns.level.back()).second) {
      return Invalid("--levels: the column " + Quoted(column) + " is named twice");
    }
  }
  if (!table.columns.node.empty()) {
    const auto found = std::find(header.begin(), header.end(), table.columns.node);
    if (found == header.end()) return NoColumn(records, header, table.columns.node);
    columns.node = static_cast<std::size_t>(found - header.begin());
  } else {
    while (used.contains(columns.node)) ++columns.node;
  }
  if (columns.node >= header.size() || used.contains(columns.node)) {
    return records.At("every column is a level: none is left for the node's name");
  }
  if (Status found = FindProperties(records, header, table.columns, columns); !found) {
    return found.error();
  }
  return columns;
}

// Adds a note about the nodes whose amount is `odd`; `what` is such an amount, and `advice` the
// option with the unit that is probably missing.
template <typename Odd>
void NoteOdd(const std::vector<TreeNode>& nodes, std::optional<std::int64_t> TreeNode::*amount,
             const Odd& odd, const std::string& what, const std::string& advice,
             std::vector<std::string>& notes) {
  std::size_t count = 0;
  const TreeNode* first = nullptr;
  for (const TreeNode& node : nodes) {
    if (!(node.*amount) || !odd(*(node.*amount))) continue;
    if (count++ == 0) first = &node;
  }
  if (count == 0) return;
  notes.push_back(std::to_string(count) + (count == 1 ? " node has " : " nodes have ") + what +
                  ", such as " + first->name + ": if the column's numbers have a unit, " + advice);
}

// Notes about sizes that no GPU node has: the table probably counts in other units.
void NoteSizes(const std::vector<TreeNode>& nodes, const Columns& columns,
               std::vector<std::string>& notes) {
  constexpr std::int64_t kLeastMemory = std::int64_t{1} << 30, kMostCpuMillis = 4'096'000;
  NoteOdd(
      nodes, &TreeNode::memory_bytes, [&](std::int64_t bytes) { return bytes < kLeastMemory; },
      "under 1 GiB of memory",
      "add it: --memory-column " + columns.memory.name + ":Mi for MiB (or Ki, Gi, k, M, G)", notes);
  NoteOdd(
      nodes, &TreeNode::cpu_millis, [&](std::int64_t millis) { return millis > kMostCpuMillis; },
      "over 4,096 CPUs", "add it: --cpu-column " + columns.cpu.name + ":m for thousandths of a CPU",
      notes);
}

// The nodes of a table's rows.
class Rows {
 public:
  Rows(Records& records, std::size_t cells, const Columns& columns, const ImportOptions& options)
      : records_(records), cells_(cells), columns_(columns), properties_(columns, options) {}

  // Reads one row; a blank line adds nothing.
  Status Read() {
    const Result<Row> row = records_.Next();
    if (!row) return row.error();
    if (row->size() == 1 && row->front().empty()) return {};
    if (row->size() != cells_) {
      return records_.At(std::to_string(row->size()) + " cells where the header has " +
                         std::to_string(cells_));
    }
    TreeNode node{(*row)[columns_.node], {}};
    if (node.name.empty()) return records_.At("the node's name is empty");
    const auto seen = line_of_.find(LowerCase(node.name));
    if (seen != line_of_.end()) {
      return records_.At("node " + Quoted(node.name) + " is already in line " +
                         std::to_string(seen->second));
    }
    for (const std::size_t column : columns_.level) node.path.push_back((*row)[column]);
    if (Status read = properties_.Read(records_, *row, node); !read) return read;
    line_of_.emplace(LowerCase(node.name), records_.line());
    nodes_.push_back(std::move(node));
    return {};
  }

  std::vector<TreeNode>& nodes() { return nodes_; }

 private:
  Records& records_;
  const std::size_t cells_;
  const Columns& columns_;
  Properties properties_;
  std::map<std::string, std::size_t> line_of_;
  std::vector<TreeNode> nodes_;
};

}  // namespace

Result<ImportedCluster> ImportCsv(const manifest::Source& source, const CsvOptions& table,
                                  const ImportOptions& options) {
  Records records(source.text, source.name);
  if (records.done()) return records.At("the table is empty");
  const Result<Row> header = records.Next();
  if (!header) return header.error();
  const Result<Columns> columns = FindColumns(records, *header, table);
  if (!columns) return columns.error();
  Rows rows(records, header->size(), *columns, options);
  SkippedLines skipped(source.name);
  while (!records.done()) {
    const Status read = rows.Read();
    if (read) skipped.CountRead();
    if (!read) skipped.SkipLine(read.error());
    if (rows.nodes().size() > kMaxImportedNodes) return records.At("too many nodes");
  }
  if (rows.nodes().empty()) {
    return skipped.FirstOr(records.At("the table has a header and no rows"));
  }
  std::vector<std::string> notes;
  NoteSizes(rows.nodes(), *columns, notes);
  ImportedCluster cluster = BuildTree(columns->names, std::move(rows.nodes()), options);
  cluster.notes.insert(cluster.notes.begin(), notes.begin(), notes.end());
  return skipped.Judge(std::move(cluster));
}

}  // namespace weft::import
