#pragma once

#include <string>
#include <vector>

#include "tests/world/api_server.h"

namespace weft::world {

// The account of weft-operator in the chart.
inline constexpr const char* kOperatorAccount = "system:serviceaccount:weft-system:weft-operator";

// What the chart lets it do, as rules for ApiServer::SetRights: those of chart_rights.json, which
// chart_rights.py makes from the rendered chart.
std::vector<Json> OperatorRights();
// What somebody with the ClusterRole `edit` or `admin` may do in these namespaces: the rules that
// the chart adds, and the stock ones for the resources that the world has.
std::vector<Json> EditRights(const std::vector<std::string>& spaces);
std::vector<Json> AdminRights(const std::vector<std::string>& spaces);

}  // namespace weft::world
