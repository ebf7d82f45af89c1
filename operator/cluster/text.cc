#include "operator/cluster/text.h"

#include "operator/base/quantity.h"
#include "operator/fabric/node_facts.h"

namespace weft::cluster {
namespace {

// Most rejections in one sentence.
constexpr std::size_t kNamedRejections = 4;
// Nodes named in one note; the rest are counted.
constexpr std::size_t kNamedNodes = 5;

// A rejection as the predicate of a sentence about nodes.
std::string Predicate(const rules::RejectionCount& count) {
  using rules::Rejection;
  const bool one = count.nodes == 1;
  const std::string are = one ? "is " : "are ";
  switch (count.rejection) {
    case Rejection::kNone:
      return "";
    case Rejection::kUnusable:
      return are + "unusable (" + count.detail + ")";
    case Rejection::kNodeName:
      return are + "ruled out (" + count.detail + ")";
    case Rejection::kTaint:
      return (one ? "has the " : "have the ") + count.detail + ", which is not tolerated";
    case Rejection::kNodeSelector:
    case Rejection::kNodeAffinity:
      return (one ? "does not match " : "do not match ") + count.detail;
    case Rejection::kLevelLabel:
      return (one ? "has no " : "have no ") + count.detail;
    case Rejection::kPool:
      return are + count.detail;
    case Rejection::kResource:
      return (one ? "lacks free " : "lack free ") + count.detail;
    case Rejection::kVolume:
    case Rejection::kHostPort:
    case Rejection::kPodAffinity:
      return are + "ruled out (" + count.detail + ")";
    case Rejection::kPower:
      return (one ? "lacks power (" : "lack power (") + count.detail + ")";
    case Rejection::kDeviceAccess:
      return are + "ruled out (" + count.detail + ")";
    case Rejection::kUnschedulable:
    case Rejection::kExcluded:
    case Rejection::kComputeDomain:
      return are + count.detail;
  }
  return "";
}

// "3 of 4 lack free x; 1 of 4 is cordoned"; the first one says "of `first_of`".
std::string ListRejections(const std::vector<rules::RejectionCount>& rejections, std::int64_t nodes,
                           const std::string& first_of) {
  const std::string of = std::to_string(nodes);
  std::string text;
  std::int64_t more = 0;
  for (std::size_t i = 0; i < rejections.size(); ++i) {
    if (i >= kNamedRejections) {
      more += rejections[i].nodes;
      continue;
    }
    text += (i > 0 ? "; " : "") + std::to_string(rejections[i].nodes) + " of " +
            (i > 0 ? of : first_of) + " " + Predicate(rejections[i]);
  }
  if (more == 0) return text;
  return text + "; " + std::to_string(more) + " of " + of +
         (more == 1 ? " has another reason" : " have other reasons");
}

}  // namespace

std::string RejectionsText(const std::vector<rules::RejectionCount>& rejections,
                           std::int64_t nodes) {
  return ListRejections(rejections, nodes, std::to_string(nodes));
}

std::string NoRoomText(const std::vector<rules::RejectionCount>& rejections, std::int64_t nodes) {
  if (rejections.empty()) return "";
  std::int64_t rejected = 0;
  for (const rules::RejectionCount& count : rejections) rejected += count.nodes;
  if (rejected == nodes) return "No node has room: " + RejectionsText(rejections, nodes) + ".";
  return ListRejections(rejections, nodes, CountText(nodes, "node")) + ".";
}

std::string AmountText(const std::string& resource, std::int64_t amount) {
  if (resource == "cpu") {
    return (amount % 1000 == 0 ? std::to_string(amount / 1000) : std::to_string(amount) + "m") +
           " cpu";
  }
  // Devices are counted; bytes are of resources without a domain, such as memory.
  if (resource.find('/') != resource.npos) return std::to_string(amount) + " " + resource;
  return FormatBytes(amount) + " " + resource;
}

std::string AheadText(std::size_t jobs) {
  constexpr std::size_t kExact = 10;
  if (jobs == 0) return "";
  if (jobs == 1) return "1 job waits ahead of it.";
  if (jobs <= kExact) return std::to_string(jobs) + " jobs wait ahead of it.";
  std::size_t power = kExact;
  while (power * kExact <= jobs) power *= kExact;
  const std::size_t round = power * (jobs < 2 * power ? 1 : jobs < 5 * power ? 2 : 5);
  return "At least " + std::to_string(round) + " jobs wait ahead of it.";
}

std::string SpansText(const objective::Scores& scores) {
  std::string text;
  for (const objective::Span& span : scores.spans) {
    text += (text.empty() ? "" : ", ") + std::to_string(span.domains) + " " + span.level;
  }
  return text;
}

std::string NameSome(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kNamedNodes; ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kNamedNodes) {
    text += " and " + std::to_string(names.size() - kNamedNodes) + " more";
  }
  return text;
}

}  // namespace weft::cluster
