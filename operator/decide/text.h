#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/base/phrases.h"
#include "operator/base/units.h"
#include "operator/placement/place.h"

namespace weft::decide {

// Parts of sentences for people.

// "3 nodes: too little nvidia.com/gpu free".
std::string RejectionText(const placement::Unplaceable::Count& count);
// The most frequent few of them, joined by "; "; "" where there is none.
std::string RejectionsText(const std::vector<placement::Unplaceable::Count>& rejections);
// "24 nvidia.com/gpu", "1.5 cpu" (thousandths inside), "16G memory".
std::string AmountText(const std::string& resource, std::int64_t amount);

}  // namespace weft::decide
