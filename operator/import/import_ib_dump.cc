#include "operator/import/import_ib_dump.h"

#include <algorithm>
#include <map>
#include <utility>

#include "operator/import/ib_cursor.h"
#include "operator/import/ib_messages.h"
#include "operator/import/import_ib_ports.h"
#include "operator/import/import_text.h"

namespace weft::import {
namespace {

constexpr std::size_t kMaxDevices = std::size_t{1} << 22;

// Whether the id has the form "S-2c5eab0300b87b40"; R- is a router, ?- a device of no known kind.
bool IsDeviceId(std::string_view id) {
  const bool kind =
      id.starts_with("S-") || id.starts_with("H-") || id.starts_with("R-") || id.starts_with("?-");
  return kind && IsGuid(id.substr(2));
}

bool NamesDevice(std::string_view line) { return HasAny(line, {"\"S-", "\"H-", "\"R-", "\"?-"}); }

// A line without content of its own: a comment, a mark of a terminal's log, or a heading of -g
// ("Chassis 1 (guid 0x...)", "Hostname: x", "Non-Chassis Nodes").
bool IsHeading(std::string_view line) {
  if (line.empty() || line.front() == '#' || line.starts_with("=~")) return true;
  for (const std::string_view word : {"Chassis", "Non-Chassis", "Hostname:", "Spine", "Line"}) {
    if (line.starts_with(word)) return true;
  }
  return false;
}

// "Switch : 0xb8cef603000000 ports 36 devid ...", a line of a list of devices.
bool IsListed(std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::string_view kind = Trim(line.substr(0, std::min(colon, line.size())));
  return colon != line.npos &&
         (kind == "Switch" || kind == "Ca" || kind == "Router" || kind == "???") &&
         Trim(line.substr(colon + 1)).starts_with("0x");
}

// "< Switch ..." or "> [1] ...", a line of a difference of two fabrics.
bool IsDifference(std::string_view line) {
  if (!line.starts_with("< ") && !line.starts_with("> ")) return false;
  for (const std::string_view word : {"vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=",
                                      "rtguid=", "Switch", "Ca", "Rt", "["}) {
    if (line.substr(2).starts_with(word)) return true;
  }
  return false;
}

// Refuses an output of ibnetdiscover that does not have the links of the fabric.
Status CheckKind(std::string_view line) {
  if (IsListed(line)) {
    return Invalid(
        "a list of devices without links (ibnetdiscover -l, -H, -S or -R): run ibnetdiscover "
        "without it");
  }
  if (IsDifference(line)) {
    return Invalid(
        "a difference of two fabrics (ibnetdiscover --diff): run ibnetdiscover without it");
  }
  return {};
}

// The speed, such as "4xNDR": the last word of the line with this form.
std::string SpeedOf(std::string_view text) {
  while (!text.empty()) {
    text = Trim(text);
    const std::size_t space = text.find_last_of(" \t");
    const std::string_view word = space == text.npos ? text : text.substr(space + 1);
    if (IsIbSpeed(word)) return std::string(word);
    if (space == text.npos) break;
    text = text.substr(0, space);
  }
  return "";
}

class DumpReader {
 public:
  explicit DumpReader(const manifest::Source& source)
      : source_(source), dump_{{}, SkippedLines(source.name)} {}

  Result<IbDump> Read() {
    Lines lines(source_.text);
    while (lines.Next()) {
      const std::string_view line = Trim(lines.line());
      if (IsHeading(line)) continue;
      where_ = "line " + std::to_string(lines.number());
      if (Status kind = CheckKind(line); !kind) return At(kind.error());
      if (IsIbMessage(line)) {
        NoteIbMessage(where_, line, dump_.skipped);
        continue;
      }
      const Status read = ReadLine(line);
      if (!read) SkipLine(line, read.error());
      if (read) dump_.skipped.CountRead();
      if (links_ > kMaxIbLinks) return At(Invalid("too many links"));
      if (dump_.devices.size() > kMaxDevices) return At(Invalid("too many devices"));
    }
    if (dump_.devices.empty()) {
      return dump_.skipped.FirstOr(
          Invalid(source_.name + ": no Switch and no Ca record: not an ibnetdiscover dump"));
    }
    return std::move(dump_);
  }

 private:
  // What the lines that begin with "[" are ports of.
  enum class Ports { kNothing, kDevice, kSkippedDevice };

  Error At(const Error& error) const {
    return Invalid(source_.name + ": " + where_ + ": " + error.message);
  }

  // The ports below a broken line of a device are not those of the device before it.
  void SkipLine(std::string_view line, const Error& error) {
    dump_.skipped.SkipLine(where_, error.message);
    const bool is_port = line.front() == '[';
    if (is_port ? ports_ == Ports::kNothing : NamesDevice(line)) ports_ = Ports::kSkippedDevice;
  }

  Status ReadLine(std::string_view line) {
    if (line.front() == '[') return ReadPort(line);
    if (line.starts_with("Switch")) return ReadDevice(line.substr(6), true);
    if (line.starts_with("Ca")) return ReadDevice(line.substr(2), false);
    if (line.starts_with("Rt") || line.starts_with("???")) {
      ports_ = Ports::kSkippedDevice;
      return {};
    }
    const std::size_t equals = line.find('=');
    if (equals != line.npos && line.substr(0, equals).find_first_of(" \t\"[") == line.npos) {
      // With -g, "# Chassis 1" follows the value.
      const std::string_view value = line.substr(equals + 1);
      return ReadAttribute(line.substr(0, equals), value.substr(0, value.find_first_of(" \t#")));
    }
    return Invalid("not a line of an ibnetdiscover dump: " + Quoted(line));
  }

  Status ReadAttribute(std::string_view key, std::string_view value) {
    const bool known = key == "vendid" || key == "devid" || key == "sysimgguid" ||
                       key == "switchguid" || key == "caguid" || key == "rtguid";
    if (!known) return Invalid("unknown attribute " + Quoted(key));
    ports_ = Ports::kNothing;
    if (key == "vendid") system_guid_.clear();
    if (key != "sysimgguid") return {};
    if (!value.starts_with("0x") || !IsGuid(value.substr(2))) {
      return Invalid("sysimgguid is not a GUID: " + Quoted(value));
    }
    system_guid_ = value.substr(2);
    return {};
  }

  Status ReadDevice(std::string_view text, bool is_switch) {
    const std::string system_guid = std::exchange(system_guid_, "");
    IbCursor cursor(text);
    int ports = 0;
    std::string_view id, description;
    ports_ = Ports::kSkippedDevice;
    cursor.SkipBlank();
    if (!cursor.TakeNumber(&ports)) return Invalid("the number of ports is missing");
    cursor.SkipBlank();
    if (!cursor.TakeBetween('"', '"', &id) || !IsDeviceId(id)) {
      return Invalid("the device's \"S-GUID\" or \"H-GUID\" is missing");
    }
    if (is_switch != (id.front() == 'S') || (!is_switch && id.front() != 'H')) {
      return Invalid(
          Quoted(id) +
          " is not the GUID of this kind of record: a Switch has an S-GUID, a Ca an H-GUID");
    }
    cursor.SkipBlank();
    if (!cursor.Take("#")) return Invalid("the description after '#' is missing");
    cursor.SkipBlank();
    if (!cursor.TakeBetween('"', '"', &description)) {
      return Invalid("the description has no closing quote");
    }
    // A second record of a device, as in two dumps in one file, adds to the first.
    const auto [seen, fresh] = seen_.emplace(id, dump_.devices.size());
    device_ = seen->second;
    if (fresh) {
      dump_.devices.push_back(
          {std::string(id), std::string(Trim(description)), system_guid, is_switch, {}});
    }
    ports_ = Ports::kDevice;
    return {};
  }

  Status ReadPort(std::string_view line) {
    if (ports_ == Ports::kNothing) return Invalid("a port outside a Switch or Ca record");
    if (ports_ == Ports::kSkippedDevice) return {};
    IbCursor cursor(line);
    IbPort port;
    std::string_view ignored, peer;
    if (!cursor.TakeBracketedNumber(&port.port)) return Invalid("the port number is missing");
    cursor.SkipExternalPort();
    cursor.TakeBetween('(', ')', &ignored);
    cursor.SkipBlank();
    if (!cursor.TakeBetween('"', '"', &peer) || !IsDeviceId(peer)) {
      return Invalid("the peer's \"S-GUID\" or \"H-GUID\" is missing");
    }
    if (!cursor.TakeBracketedNumber(&port.peer_port)) {
      return Invalid("the peer's port number is missing");
    }
    cursor.SkipExternalPort();
    cursor.SkipBlank();  // before the GUID of a Ca's peer that is a Ca
    cursor.TakeBetween('(', ')', &ignored);
    cursor.SkipBlank();
    if (!cursor.Take("#")) return Invalid("the link's description after '#' is missing");
    cursor.SkipBlank();
    if (cursor.TakeBetween('"', '"', &ignored)) port.peer_description = Trim(ignored);
    if (port.peer_description.empty() && cursor.rest().starts_with("\"")) {
      return Invalid("the description has no closing quote");
    }
    port.peer = peer;
    port.speed = SpeedOf(cursor.rest());
    ++links_;
    dump_.devices[device_].ports.push_back(std::move(port));
    return {};
  }

  const manifest::Source& source_;
  IbDump dump_;
  std::map<std::string, std::size_t, std::less<>> seen_;  // id -> device
  std::size_t device_ = 0;                                // of the ports
  std::string system_guid_, where_;
  Ports ports_ = Ports::kNothing;
  std::size_t links_ = 0;
};

}  // namespace

bool LooksLikeIbnetdiscover(std::string_view text) {
  if (HasAny(text, {"switchguid=", "caguid="}) || IsIbPortReport(text)) return true;
  Lines lines(text);
  while (lines.Next()) {
    const std::string_view line = Trim(lines.line());
    if (IsHeading(line) || IsIbMessage(line)) continue;
    const bool record = line.starts_with("Switch") || line.starts_with("Ca");
    return IsListed(line) || IsDifference(line) || (record && NamesDevice(line));
  }
  return false;
}

Result<IbDump> ParseIbnetdiscover(const manifest::Source& source) {
  return IsIbPortReport(source.text) ? ParseIbPortReport(source) : DumpReader(source).Read();
}

}  // namespace weft::import
