#pragma once

#include <vector>

#include "operator/fabric/fabric.h"
#include "operator/fabric/level_groups.h"
#include "operator/fabric/resolve_links.h"
#include "operator/fabric/torus.h"

namespace weft::fabric {

// The steps of Fabric::Build: check the spec, select and sort the nodes, group them by label, order
// the tree, fill the arrays.
class FabricBuilder {
 public:
  FabricBuilder(FabricSpec spec, SharedList<NodeFacts> nodes, Fabric::Options options);

  Result<Fabric> Run();

 private:
  Status SelectNodes();  // fills candidates_, by name
  Status GroupNodes();   // fills groups_, places_ and scale_up_
  bool ScaleUpNests() const;
  void OrderTree();  // fills order_
  void FillTiers();
  TierInfo& AddTier(const std::string& name, const Link& link);
  void FillDomains(const Groups& groups);
  void FillScaleUp();
  void AddPlane(const std::string& name, const Link& link, const Groups& groups);
  void FillPlanes();
  Status FillTorus();
  void FillNodes();
  void FillRails();
  void FillResources();
  void FillCapacity();
  double PeakWatts(NodeIndex n) const;
  void FillPools();
  void FillUsable();
  void FillTaintClasses();
  void FillPathCodes();

  Fabric::Options options_;
  SharedList<NodeFacts> nodes_;
  std::vector<std::size_t> source_;  // index in nodes_, by candidate
  std::vector<const NodeFacts*> candidates_;
  LevelGroups groups_;
  Groups scale_up_;
  bool nested_ = false;
  std::vector<TorusPlace> places_;  // by candidate; empty without a torus
  ByNode<std::uint32_t> order_;     // candidates
  ResolvedLinks links_;
  Fabric fabric_;
};

}  // namespace weft::fabric
