#include "operator/import/import_ib_ports.h"

#include <map>
#include <string>
#include <utility>

#include "operator/import/ib_cursor.h"
#include "operator/import/ib_messages.h"
#include "operator/import/import_text.h"

namespace weft::import {
namespace {

// One end of a link: "SW    10 36 0xb8cef60300000000".
struct PortEnd {
  char kind = 'S';  // as in an id: S, H, R
  int port = 0;
  std::string id;
};

struct PortLine {
  PortEnd near, far;
  bool linked = false;
  std::string speed, near_name, far_name;
};

bool TakeKind(IbCursor& cursor, char* kind) {
  constexpr std::pair<std::string_view, char> kKinds[] = {
      {"SW ", 'S'}, {"CA ", 'H'}, {"RT ", 'R'}, {"?? ", 'R'}};
  for (const auto& [word, letter] : kKinds) {
    if (!cursor.Take(word)) continue;
    *kind = letter;
    return true;
  }
  return false;
}

bool TakeEnd(IbCursor& cursor, PortEnd* end) {
  int lid = 0;
  std::string_view guid;
  if (!TakeKind(cursor, &end->kind)) return false;
  cursor.SkipBlank();
  if (!cursor.TakeNumber(&lid)) return false;
  cursor.SkipBlank();
  if (!cursor.TakeNumber(&end->port)) return false;
  cursor.SkipBlank();
  if (!cursor.Take("0x") || !cursor.TakeWord(&guid) || !IsGuid(guid)) return false;
  end->id = std::string(1, end->kind) + "-" + std::string(guid);
  return true;
}

// Takes "( 'near' - 'far' )".
Status TakeNames(std::string_view text, PortLine* line) {
  constexpr std::string_view kOpen = "( '", kBetween = "' - '", kClose = "' )";
  text = Trim(text);
  const std::size_t between = text.find(kBetween);
  if (!text.starts_with(kOpen) || !text.ends_with(kClose) || between == text.npos ||
      between + kBetween.size() + kClose.size() > text.size()) {
    return Invalid("the names of both ends, ( 'NEAR' - 'FAR' ), are missing");
  }
  line->near_name = Trim(text.substr(kOpen.size(), between - kOpen.size()));
  text.remove_prefix(between + kBetween.size());
  line->far_name = Trim(text.substr(0, text.size() - kClose.size()));
  return {};
}

Result<PortLine> ParsePortLine(std::string_view text) {
  PortLine line;
  IbCursor cursor(text);
  std::string_view width, rate;
  if (!TakeEnd(cursor, &line.near)) {
    return Invalid("not a line of a report of ports: " + Quoted(text));
  }
  cursor.SkipBlank();
  if (!cursor.TakeWord(&width)) return Invalid("the width of the link is missing");
  cursor.SkipBlank();
  if (!cursor.TakeWord(&rate)) return Invalid("the speed of the link is missing");
  cursor.SkipBlank();
  if (const std::string speed = std::string(width) + std::string(rate); IsIbSpeed(speed)) {
    line.speed = speed;  // else the tool does not know the width, "??"
  }
  line.linked = cursor.Take("- ");
  if (line.linked) {
    cursor.SkipBlank();
    if (!TakeEnd(cursor, &line.far)) return Invalid("the far end of the link is missing");
    if (Status names = TakeNames(cursor.rest(), &line); !names) return names.error();
    return line;
  }
  const std::string_view name = Trim(cursor.rest());
  if (name.size() < 2 || name.front() != '\'' || name.back() != '\'') {
    return Invalid("the name of the device is missing");
  }
  line.near_name = Trim(name.substr(1, name.size() - 2));
  return line;
}

class PortReportReader {
 public:
  explicit PortReportReader(const manifest::Source& source)
      : source_(source), dump_{{}, SkippedLines(source.name)} {}

  Result<IbDump> Read() {
    Lines lines(source_.text);
    while (lines.Next()) {
      const std::string_view text = Trim(lines.line());
      const std::string where = "line " + std::to_string(lines.number());
      if (IsIbMessage(text)) NoteIbMessage(where, text, dump_.skipped);
      if (text.empty() || text.front() == '#' || IsIbMessage(text)) continue;
      const Result<PortLine> line = ParsePortLine(text);
      if (!line) {
        dump_.skipped.SkipLine(where, line.error().message);
        continue;
      }
      dump_.skipped.CountRead();
      if (line->near.kind != 'R') Add(*line);
      if (++ports_ > kMaxIbLinks) return AtLine(source_.name, lines.number(), "too many ports");
    }
    if (dump_.devices.empty()) {
      return dump_.skipped.FirstOr(Invalid(source_.name + ": no port of a switch or CA"));
    }
    for (IbDevice& device : dump_.devices) {
      for (IbPort& port : device.ports) {
        const auto known = device_of_.find(port.peer);
        if (known != device_of_.end()) port.peer = known->second;
      }
    }
    return std::move(dump_);
  }

 private:
  void Add(const PortLine& line) {
    if (!IsSameDevice(line)) {
      dump_.devices.push_back({line.near.id, line.near_name, "", line.near.kind == 'S', {}});
    }
    last_ = line.near;
    IbDevice& device = dump_.devices.back();
    device_of_.emplace(line.near.id, device.id);
    if (line.linked) {
      device.ports.push_back(
          {line.near.port, line.far.id, line.far.port, line.speed, line.far_name});
    }
  }

  bool IsSameDevice(const PortLine& line) const {
    if (dump_.devices.empty() || last_.kind != line.near.kind) return false;
    if (line.near.kind == 'S') return last_.id == line.near.id;
    return line.near.port < last_.port && dump_.devices.back().description == line.near_name;
  }

  const manifest::Source& source_;
  IbDump dump_;
  PortEnd last_;
  std::map<std::string, std::string> device_of_;  // GUID of a port -> id of its device
  std::size_t ports_ = 0;
};

}  // namespace

bool IsIbPortReport(std::string_view text) {
  Lines lines(text);
  while (lines.Next()) {
    const std::string_view line = Trim(lines.line());
    PortEnd end;
    IbCursor cursor(line);
    if (TakeEnd(cursor, &end)) return true;
    if (!line.empty() && line.front() != '#' && !IsIbMessage(line)) return false;
  }
  return false;
}

Result<IbDump> ParseIbPortReport(const manifest::Source& source) {
  return PortReportReader(source).Read();
}

}  // namespace weft::import
