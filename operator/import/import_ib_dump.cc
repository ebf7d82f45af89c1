#include "operator/import/import_ib_dump.h"

#include <charconv>
#include <map>
#include <string_view>

#include "operator/import/import_text.h"

namespace weft::import {
namespace {

constexpr std::size_t kMaxDevices = std::size_t{1} << 22;
constexpr std::size_t kMaxLinks = std::size_t{1} << 24;
constexpr int kMaxPort = 65'535;

// Takes parts off the front of its text. A Take that does not match returns false and takes
// nothing.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  void SkipBlank() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\t')) {
      text_.remove_prefix(1);
    }
  }
  bool Take(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool TakeNumber(int* value) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), *value);
    if (error != std::errc() || *value < 0 || *value > kMaxPort) return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return true;
  }
  // Takes the text between `open` and `close`.
  bool TakeBetween(char open, char close, std::string_view* inside) {
    if (text_.empty() || text_.front() != open) return false;
    const std::size_t end = text_.find(close, 1);
    if (end == std::string_view::npos) return false;
    *inside = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return true;
  }
  bool TakeBracketedNumber(int* value) {
    std::string_view inside;
    const std::string_view before = text_;
    if (!TakeBetween('[', ']', &inside)) return false;
    Cursor number(inside);
    if (number.TakeNumber(value) && number.rest().empty()) return true;
    text_ = before;
    return false;
  }
  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

bool IsHex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

// Whether the id has the form "S-2c5eab0300b87b40"; R- is a router.
bool IsDeviceId(std::string_view id) {
  const bool kind = id.starts_with("S-") || id.starts_with("H-") || id.starts_with("R-");
  return kind && id.size() <= 18 && IsHex(id.substr(2));
}

// The speed, such as "4xNDR": the last word of the line with this form.
std::string SpeedOf(std::string_view text) {
  while (!text.empty()) {
    text = Trim(text);
    const std::size_t space = text.find_last_of(" \t");
    const std::string_view word = space == text.npos ? text : text.substr(space + 1);
    const std::size_t x = word.find('x');
    if (x != word.npos && x > 0 && x <= 2 && word.size() <= 10 &&
        word.substr(0, x).find_first_not_of("0123456789") == word.npos) {
      return std::string(word);
    }
    if (space == text.npos) break;
    text = text.substr(0, space);
  }
  return "";
}

class DumpReader {
 public:
  explicit DumpReader(const manifest::Source& source) : source_(source) {}

  Result<IbDump> Read() {
    Lines lines(source_.text);
    while (lines.Next()) {
      const std::string_view line = Trim(lines.line());
      Status status = ReadLine(line);
      if (!status) return AtLine(source_.name, lines.number(), status.error().message);
    }
    if (dump_.devices.empty()) {
      return Invalid(source_.name + ": no Switch and no Ca record: not an ibnetdiscover dump");
    }
    return std::move(dump_);
  }

 private:
  Status ReadLine(std::string_view line) {
    if (line.empty() || line.front() == '#' || line.starts_with("=~")) return {};
    if (line.front() == '[') return ReadPort(line);
    if (IsListed(line)) {
      return Invalid(
          "a list of devices without links (ibnetdiscover -l, -H, -S or -R): run "
          "ibnetdiscover without it");
    }
    if (line.starts_with("Switch")) return ReadDevice(line.substr(6), true);
    if (line.starts_with("Ca")) return ReadDevice(line.substr(2), false);
    if (line.starts_with("Rt")) {
      in_record_ = skipping_ = true;
      return {};
    }
    // Headings that -g prints: "Chassis 1 ...", "Non-Chassis Nodes", and the position of a chip in
    // its chassis.
    if (line.starts_with("Chassis") || line.starts_with("Non-Chassis") ||
        line.starts_with("Spine") || line.starts_with("Line")) {
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

  // "Switch : 0xb8cef603000000 ports 36 devid ...", a line of ibnetdiscover -l.
  static bool IsListed(std::string_view line) {
    const std::size_t colon = line.find(':');
    const std::string_view kind = Trim(line.substr(0, std::min(colon, line.size())));
    return colon != line.npos && (kind == "Switch" || kind == "Ca" || kind == "Router") &&
           Trim(line.substr(colon + 1)).starts_with("0x");
  }

  Status ReadAttribute(std::string_view key, std::string_view value) {
    const bool known = key == "vendid" || key == "devid" || key == "sysimgguid" ||
                       key == "switchguid" || key == "caguid" || key == "rtguid";
    if (!known) return Invalid("unknown attribute " + Quoted(key));
    in_record_ = false;
    if (key == "vendid") system_guid_.clear();
    if (key != "sysimgguid") return {};
    if (!value.starts_with("0x") || !IsHex(value.substr(2)) || value.size() > 18) {
      return Invalid("sysimgguid is not a GUID: " + Quoted(value));
    }
    system_guid_ = value.substr(2);
    return {};
  }

  Status ReadDevice(std::string_view text, bool is_switch) {
    Cursor cursor(text);
    int ports = 0;
    std::string_view id, description;
    cursor.SkipBlank();
    if (!cursor.TakeNumber(&ports)) return Invalid("the number of ports is missing");
    cursor.SkipBlank();
    if (!cursor.TakeBetween('"', '"', &id) || !IsDeviceId(id)) {
      return Invalid("the device's \"S-GUID\" or \"H-GUID\" is missing");
    }
    if (is_switch != (id.front() == 'S')) {
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
    if (dump_.devices.size() == kMaxDevices) return Invalid("too many devices");
    if (!seen_.emplace(id, true).second) return Invalid(Quoted(id) + " has a second record");
    dump_.devices.push_back(
        {std::string(id), std::string(Trim(description)), std::move(system_guid_), is_switch, {}});
    system_guid_.clear();
    in_record_ = true;
    skipping_ = false;
    return {};
  }

  Status ReadPort(std::string_view line) {
    if (!in_record_) return Invalid("a port outside a Switch or Ca record");
    if (skipping_) return {};
    Cursor cursor(line);
    IbPort port;
    std::string_view ignored, peer;
    if (!cursor.TakeBracketedNumber(&port.port)) return Invalid("the port number is missing");
    SkipExternalPort(cursor);
    cursor.TakeBetween('(', ')', &ignored);
    cursor.SkipBlank();
    if (!cursor.TakeBetween('"', '"', &peer) || !IsDeviceId(peer)) {
      return Invalid("the peer's \"S-GUID\" or \"H-GUID\" is missing");
    }
    if (!cursor.TakeBracketedNumber(&port.peer_port)) {
      return Invalid("the peer's port number is missing");
    }
    SkipExternalPort(cursor);
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
    if (++links_ > kMaxLinks) return Invalid("too many links");
    dump_.devices.back().ports.push_back(std::move(port));
    return {};
  }

  // Skips "[ext 12]" of -g, with or without a blank before it.
  static void SkipExternalPort(Cursor& cursor) {
    Cursor ahead = cursor;
    std::string_view inside;
    ahead.SkipBlank();
    if (ahead.rest().starts_with("[ext") && ahead.TakeBetween('[', ']', &inside)) cursor = ahead;
  }

  const manifest::Source& source_;
  IbDump dump_;
  std::map<std::string, bool, std::less<>> seen_;
  std::string system_guid_;
  bool in_record_ = false, skipping_ = false;
  std::size_t links_ = 0;
};

}  // namespace

Result<IbDump> ParseIbnetdiscover(const manifest::Source& source) {
  return DumpReader(source).Read();
}

}  // namespace weft::import
