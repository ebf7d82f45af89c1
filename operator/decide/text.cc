#include "operator/decide/text.h"

#include "operator/base/quantity.h"
#include "operator/fabric/node_facts.h"

namespace weft::decide {
namespace {

// Rejections named in one sentence.
constexpr std::size_t kNamedRejections = 4;

}  // namespace

std::string RejectionText(const placement::Unplaceable::Count& count) {
  std::string text = CountText(count.nodes, "node") + ": ";
  if (count.rejection == placement::Rejection::kResource) {
    return text + "too little " + count.detail + " free";
  }
  return text + (count.detail.empty() ? std::string(placement::RejectionName(count.rejection))
                                      : count.detail);
}

std::string RejectionsText(const std::vector<placement::Unplaceable::Count>& rejections) {
  std::string text;
  std::int64_t more = 0;
  for (std::size_t i = 0; i < rejections.size(); ++i) {
    if (i >= kNamedRejections) {
      more += rejections[i].nodes;
      continue;
    }
    text += (i > 0 ? "; " : "") + RejectionText(rejections[i]);
  }
  if (more > 0) text += "; " + CountText(more, "node") + ": other reasons";
  return text;
}

std::string AmountText(const std::string& resource, std::int64_t amount) {
  if (resource == "cpu") {
    return (amount % 1000 == 0 ? std::to_string(amount / 1000) : std::to_string(amount) + "m") +
           " cpu";
  }
  if (fabric::IsAcceleratorResource(resource)) return std::to_string(amount) + " " + resource;
  return FormatBytes(amount) + " " + resource;
}

}  // namespace weft::decide
