#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "operator/fabric/incomplete.h"
#include "operator/fabric/node_facts.h"
#include "operator/fabric/spec.h"

namespace weft::fabric {

// How many levels, from the widest, a node's kind has labels for.
struct LabelDepth {
  std::string kind;
  std::size_t depth = 0;  // the number of levels if the kind has all, or counts as incomplete
};

// By candidate. A node's kind is its product, as labels name it (pools.h, LabelledProducts),
// without the suffix of shared GPUs and MIG; else its instance type; else the resource of its
// accelerators. Where machines of one type lack levels that other nodes of their product have, as
// instances with one GPU may, these are a kind of their own, "PRODUCT on TYPE", if the type is one
// that tells the machine (ProductOfInstanceType). A labeller that knows nothing of a whole kind, as
// topograph of nodes outside the training network (NVIDIA/topograph#496), has labelled none of its
// nodes; one that has failed on some nodes has labelled others of the kind.
//
// The depth is below the number of levels if no node of the kind has a label of that level or a
// narrower one, but nodes of other kinds have each. A single node that lacks what others of its
// kind have is not such a kind.
//
// `has`: whether a candidate has the label of a level.
// Cost   O(candidates x levels).
std::vector<LabelDepth> LabelDepths(const std::vector<const NodeFacts*>& candidates,
                                    const FabricSpec& spec,
                                    const std::function<bool(std::size_t, std::size_t)>& has);

// Takes the incomplete nodes off the kinds, and kinds without another node off the list.
void DropIncomplete(const std::vector<IncompleteNode>& incomplete,
                    std::vector<UnlabelledKind>& kinds);

}  // namespace weft::fabric
