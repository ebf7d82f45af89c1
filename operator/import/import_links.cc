#include "operator/import/import_links.h"

#include <algorithm>
#include <charconv>

#include "operator/base/near_word.h"
#include "operator/fabric/link_types.h"
#include "operator/import/import_text.h"

namespace weft::import {
namespace {

constexpr const char* kOutside = "outside";
constexpr std::int64_t kMostPercent = 1'000'000;  // as in the schema of Fabric

// The parts of "spine=RoCE400".
struct Setting {
  std::string level;  // "": every level
  std::string value;
};

Setting Cut(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Status CheckType(const char* flag, const std::string& type) {
  if (fabric::FindLinkType(type)) return {};
  std::vector<std::string_view> known;
  for (const fabric::LinkType& one : fabric::KnownLinkTypes()) known.push_back(one.name);
  std::string list;
  for (const std::string_view name : known) list += (list.empty() ? "" : ", ") + std::string(name);
  return Invalid(std::string(flag) + ": " + Quoted(type) +
                 " is not a known type of link; known: " + list);
}

// The links of the level; creates those that the Fabric lacks.
Result<std::vector<fabric::LinkSpec*>> LinksOf(const char* flag, const std::string& level,
                                               fabric::FabricSpec& fabric) {
  std::vector<fabric::LinkSpec*> links;
  std::string known = kOutside;
  const auto take = [&](std::optional<fabric::LinkSpec>& link) {
    if (!link) link.emplace();
    links.push_back(&*link);
  };
  for (fabric::LevelSpec& one : fabric.levels) {
    known += ", " + one.name;
    if (level.empty() || level == one.name) take(one.link);
  }
  if (fabric.torus) {
    known += ", " + fabric.torus->name;
    if (level.empty() || level == fabric.torus->name) take(fabric.torus->link);
  }
  if (fabric.scale_up) {
    known += ", " + fabric.scale_up->name;
    if (level == fabric.scale_up->name) take(fabric.scale_up->link);
  }
  if (level.empty() || level == kOutside) take(fabric.outside);
  if (!links.empty()) return links;
  return Invalid(std::string(flag) + ": " + Quoted(level) +
                 " is not a level of this fabric, which has " + known);
}

Status AddOversubscription(const std::string& text, fabric::FabricSpec& fabric) {
  constexpr const char* kFlag = "--oversubscription";
  const Setting setting = Cut(text);
  std::int64_t percent = 0;
  const char* end = setting.value.data() + setting.value.size();
  const auto [stop, error] = std::from_chars(setting.value.data(), end, percent);
  const bool number = error == std::errc() && stop == end;
  if (setting.level.empty() || !number || percent < 1 || percent > kMostPercent) {
    return Invalid(std::string(kFlag) + ": " + Quoted(text) +
                   " is not LEVEL=PERCENT with a percent from 1 to 1,000,000");
  }
  const auto links = LinksOf(kFlag, setting.level, fabric);
  if (!links) return links.error();
  for (fabric::LinkSpec* link : *links) link->oversubscription_percent = percent;
  return {};
}

// Whether all links between nodes have a type, so that none is assumed.
bool Declared(const fabric::FabricSpec& fabric) {
  const auto typed = [](const auto& link) { return link && !link->type.empty(); };
  if (fabric.torus && !typed(fabric.torus->link)) return false;
  if (fabric.levels.empty()) return typed(fabric.outside);
  return std::all_of(fabric.levels.begin(), fabric.levels.end(),
                     [&](const auto& level) { return typed(level.link); });
}

}  // namespace

Status AddLinks(const ImportLinks& wanted, ImportedCluster& cluster) {
  std::vector<Setting> settings;
  for (const std::string& text : wanted.links) settings.push_back(Cut(text));
  // A level's own type replaces that of all levels, whichever is given first.
  std::stable_partition(settings.begin(), settings.end(),
                        [](const Setting& one) { return one.level.empty(); });
  for (const Setting& setting : settings) {
    if (Status type = CheckType("--link", setting.value); !type) return type;
    const auto links = LinksOf("--link", setting.level, cluster.fabric);
    if (!links) return links.error();
    for (fabric::LinkSpec* link : *links) link->type = setting.value;
  }
  for (const std::string& text : wanted.oversubscription) {
    if (Status added = AddOversubscription(text, cluster.fabric); !added) return added;
  }
  if (!wanted.node_link.empty()) {
    if (Status type = CheckType("--node-link", wanted.node_link); !type) return type;
    cluster.fabric.node_link.emplace();
    cluster.fabric.node_link->type = wanted.node_link;
  }
  if (Declared(cluster.fabric)) std::erase(cluster.notes, kNoLinksNote);
  return {};
}

}  // namespace weft::import
