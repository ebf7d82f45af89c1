#pragma once

#include <string>
#include <variant>
#include <vector>

#include "operator/api/placement.h"
#include "operator/api/pod.h"
#include "operator/cluster/foreign_gang.h"
#include "operator/life/job_step.h"

namespace weft::life {

// The pods of all attempts of one gang of another controller that ask for a Placement
// (cluster::ForeignGang::base). Points into a snapshot.
struct ForeignPods {
  std::string base;
  std::vector<const api::Pod*> pods;
  std::vector<const api::Placement*> placements;  // of the namespace, with a podSelector
  // FabricSpec::accelerator_resources; needed if a pod requests no other accelerator.
  std::vector<std::string> accelerator_resources = {};
};

// The Placement of an attempt is missing. Its pods that wait are in order of name.
struct CreateForeign {
  cluster::ForeignGang gang;
  std::vector<const api::Pod*> pods;
  api::OwnerReference keeper;  // that is to own the Placement
  // The Placement of an earlier attempt, whose excluded nodes and backoff the new one takes over.
  const api::Placement* before = nullptr;
};
// The Placement is of an earlier attempt, which has no pods left, or of other wishes.
struct DeleteForeign {
  const api::Placement* placement = nullptr;
};
// These pods request no accelerator: their gate is removed, and they get no node.
struct FreeForeign {
  std::vector<const api::Pod*> pods;
};
using ForeignStep = std::variant<CreateForeign, DeleteForeign, FreeForeign, Wait>;

// What to do next for pods with the label weft.dev/place: one Placement per gang and attempt, which
// the pods' controller owns. NextUngateStep then hands the pods over. Pods that a Placement of
// somebody else selects are left to it.
// Cost  O(pods log pods + Placements).
ForeignStep NextForeignStep(const ForeignPods& view);

}  // namespace weft::life
