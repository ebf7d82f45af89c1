#include "tests/world/rights.h"

#include <fstream>

#include "operator/base/check.h"
#include "tests/support/source_dir.h"

namespace weft::world {
namespace {

// Read once.
const Json& ChartRights() {
  static const Json rights = [] {
    std::ifstream file(testing::SourceDir() + "/tests/world/chart_rights.json");
    WEFT_CHECK(file.good());
    return Json::parse(file);
  }();
  return rights;
}

Json RuleOf(const char* group, std::vector<std::string> resources, std::vector<std::string> verbs) {
  return {{"apiGroups", {group}}, {"resources", std::move(resources)}, {"verbs", std::move(verbs)}};
}

// Those of system:aggregate-to-edit and system:aggregate-to-view that concern the world.
std::vector<Json> StockRights() {
  const std::vector<std::string> read = {"get", "list", "watch"};
  const std::vector<std::string> write = {"create", "delete", "deletecollection", "patch",
                                          "update"};
  const std::vector<std::string> core = {"pods", "services", "configmaps", "secrets",
                                         "serviceaccounts"};
  return {RuleOf("", core, write),
          RuleOf("", core, read),
          RuleOf("", {"pods/eviction"}, {"create"}),
          RuleOf("", {"events"}, write),
          RuleOf("",
                 {"events", "resourcequotas", "resourcequotas/status", "namespaces",
                  "namespaces/status", "pods/status", "services/status"},
                 read),
          RuleOf("events.k8s.io", {"events"}, write),
          RuleOf("events.k8s.io", {"events"}, read),
          RuleOf("coordination.k8s.io", {"leases"}, write),
          RuleOf("coordination.k8s.io", {"leases"}, read),
          RuleOf("scheduling.k8s.io", {"podgroups"}, write),
          RuleOf("scheduling.k8s.io", {"podgroups", "podgroups/status"}, read),
          RuleOf("batch", {"jobs"}, write),
          RuleOf("batch", {"jobs", "jobs/status"}, read)};
}

std::vector<Json> In(const std::vector<std::string>& spaces, const char* role) {
  std::vector<Json> rules = StockRights();
  for (const Json& rule : ChartRights().at(role)) rules.push_back(rule);
  for (Json& rule : rules) rule["namespaces"] = spaces;
  return rules;
}

}  // namespace

std::vector<Json> OperatorRights() {
  return ChartRights().at(kOperatorAccount).get<std::vector<Json>>();
}

std::vector<Json> EditRights(const std::vector<std::string>& spaces) {
  return In(spaces, "weft-editor");
}

std::vector<Json> AdminRights(const std::vector<std::string>& spaces) {
  return In(spaces, "weft-admin");
}

}  // namespace weft::world
