#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace weft::world {

// Amounts in thousandths by their name in a ResourceQuota ("requests.cpu", "pods",
// "count/configmaps").
using Usage = std::map<std::string, std::int64_t>;
Usage UsageOf(const std::string& resource, const nlohmann::json& object);
std::string AmountText(std::int64_t milli);

}  // namespace weft::world
