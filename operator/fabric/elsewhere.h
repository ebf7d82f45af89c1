#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "operator/fabric/node_facts.h"
#include "operator/fabric/pod_terms.h"

namespace weft::fabric {

// The nodes of a cluster and the pods on them, as rules between pods see them from a Fabric that
// lacks those nodes: nodes without accelerators, and those of other Fabrics. All Fabrics of a
// cluster share one object, which does not change then. It points into the inputs of decisions.
//
// Cost  Memory O(nodes + pods + terms): 16 bytes a node, 56 a pod or term. A pod is found by its
//       namespace, a term by the namespaces that it selects, so a question costs O(pods of these
//       namespaces + terms that may select a pod of the asking namespace), not O(pods). Of 500,000
//       pods on 100,000 nodes, a fifth with a term: a third of a second to make, milliseconds a
//       question, 0.1 s one about the pods of all namespaces.
class Elsewhere {
 public:
  using Home = std::uint32_t;  // index of the Fabric that has the node
  static constexpr Home kNoFabric = ~0U;

  struct NodeAt {
    const NodeFacts* facts = nullptr;
    Home home = kNoFabric;
  };
  struct PodAt {
    NodeAt node;
    Neighbour pod;
  };
  // What a pod demands or wishes.
  struct TermAt {
    NodeAt node;
    const std::string* space = nullptr;  // the pod's namespace
    const PodTerm* term = nullptr;
    std::int64_t weight = 0;  // of a wish; 0: required
  };

  void AddNode(NodeAt node) { nodes_.push_back(node); }
  // `pod`: known (Neighbour::space is set).
  void AddPod(NodeAt node, const Neighbour& pod);

  // By the namespace of the pods that a term may select; those that may select any are apart.
  struct Terms {
    std::unordered_map<std::string_view, std::vector<TermAt>> by_space;
    std::vector<TermAt> any;

    void Add(const TermAt& one);
  };

  // What one Fabric sees: all but its own nodes. The default sees nothing.
  class View {
   public:
    View() = default;
    View(std::shared_ptr<const Elsewhere> all, Home own) : all_(std::move(all)), own_(own) {}

    // Each calls `visit` with the element.
    template <typename Visit>
    void EachNode(Visit visit) const {
      if (!all_) return;
      for (const NodeAt& node : all_->nodes_) {
        if (IsElsewhere(node)) visit(node);
      }
    }
    template <typename Visit>
    void EachPod(Visit visit) const {
      if (!all_) return;
      for (const auto& [space, pods] : all_->pods_) Each(pods, visit);
    }
    template <typename Visit>
    void EachPodIn(std::string_view space, Visit visit) const {
      if (!all_) return;
      const auto found = all_->pods_.find(space);
      if (found != all_->pods_.end()) Each(found->second, visit);
    }
    // Terms that may select a pod of the namespace: of required anti-affinity, and all others.
    template <typename Visit>
    void EachAway(std::string_view space, Visit visit) const {
      if (all_) EachOf(all_->away_, space, visit);
    }
    template <typename Visit>
    void EachBeside(std::string_view space, Visit visit) const {
      if (all_) EachOf(all_->beside_, space, visit);
    }

   private:
    bool IsElsewhere(const NodeAt& node) const {
      return node.home == kNoFabric || node.home != own_;
    }
    template <typename Element, typename Visit>
    void Each(const std::vector<Element>& list, Visit& visit) const {
      for (const Element& one : list) {
        if (IsElsewhere(one.node)) visit(one);
      }
    }
    template <typename Visit>
    void EachOf(const Terms& terms, std::string_view space, Visit& visit) const {
      const auto found = terms.by_space.find(space);
      if (found != terms.by_space.end()) Each(found->second, visit);
      Each(terms.any, visit);
    }

    std::shared_ptr<const Elsewhere> all_;
    Home own_ = kNoFabric;
  };

 private:
  std::vector<NodeAt> nodes_;
  std::unordered_map<std::string_view, std::vector<PodAt>> pods_;  // by namespace
  Terms away_, beside_;  // required anti-affinity; all other terms
};

}  // namespace weft::fabric
