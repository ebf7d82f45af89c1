#pragma once

#include <string>
#include <vector>

#include "operator/render/text_format.h"
#include "operator/simulate/advice.h"
#include "operator/simulate/summary.h"

namespace weft::render {

// The table of `weft simulate`: a row for each policy and queue rule, and what the columns mean.
std::string SimulateText(const simulate::Scenario& scenario,
                         const std::vector<simulate::Summary>& summaries,
                         const TextOptions& options);

// The text of `weft simulate --advise`.
std::string AdviceText(const simulate::Summary& as_it_is, const std::vector<simulate::Advice>& best,
                       const TextOptions& options);

// The levels of Summary::level_bytes that are worth showing: those that bytes leave, without those
// whose domains are those of the next wider level under another name.
std::vector<std::size_t> ShownLevels(const simulate::Scenario& scenario,
                                     const std::vector<simulate::Summary>& summaries);

// Of one run; 0 if its fabric has no such level.
double BytesLeaving(const simulate::Summary& one, const std::string& level);

// "83.2 kWh", "1.24 MWh": three significant digits.
std::string EnergyText(double joules);

// "45 s", "12.3 min", "4.1 h", "3.2 d": three significant digits.
std::string LongTimeText(double seconds);

}  // namespace weft::render
