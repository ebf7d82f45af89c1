#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "operator/fabric/elsewhere.h"
#include "operator/fabric/fabric.h"
#include "operator/fabric/pod_terms.h"

namespace weft::fabric {

// Resources that bound and assumed pods use on the nodes of one Fabric. Kept apart from the Fabric,
// in flat arrays, so that a copy for a what-if question is cheap.
class Claims {
 public:
  explicit Claims(const Fabric& fabric);

  // Adds `amounts` to the node's use, and one pod unless `amounts` includes pods. Resources that no
  // node of the fabric offers are ignored. `compute_domain`: the job that holds the node's
  // ComputeDomain; "" if none. `pod`: as other pods see it; lives as long as this object.
  void Add(NodeIndex node, const Resources& amounts, const std::string& compute_domain = "",
           const Neighbour& pod = {});
  // Undoes an Add with the same arguments. The node's ComputeDomain is free again once every pod
  // that was added with it is removed.
  void Remove(NodeIndex node, const Resources& amounts, const std::string& compute_domain = "",
              const Neighbour& pod = {});

  // Allocatable minus used; negative if the node is overcommitted.
  std::int64_t free(NodeIndex n, ResourceIndex r) const { return free_[Slot(n, r)]; }
  const std::int64_t* free_row(NodeIndex n) const { return &free_[Slot(n, ResourceIndex{0})]; }
  std::int64_t free_accelerators(NodeIndex n) const;
  // Whether no accelerator of the node is in use.
  bool wholly_free(NodeIndex n) const { return used_accelerators_[n] == 0; }
  std::int64_t used_accelerators(NodeIndex n) const { return used_accelerators_[n]; }
  const std::string& compute_domain(NodeIndex n) const { return compute_domain_[n]; }

  // The known pods that were added and not removed, in order.
  struct PodOn {
    NodeIndex node{0};
    Neighbour pod;
  };
  std::vector<PodOn> PodsOn() const;
  // Those of them, and perhaps of removed ones, that may keep others away by required
  // anti-affinity.
  std::span<const Neighbour> keeping_away() const { return keeping_away_; }
  // The same for pods that have a wish about other pods: terms of affinity, required or preferred,
  // or of preferred anti-affinity.
  std::span<const Neighbour> preferring() const { return preferring_; }

  // The pods on other nodes of the cluster; none at first.
  const Elsewhere::View& elsewhere() const { return elsewhere_; }
  void See(Elsewhere::View elsewhere) { elsewhere_ = std::move(elsewhere); }

  const Fabric& fabric() const { return *fabric_; }

  // What changed in this object since `epoch` began: the nodes of each Add and Remove, in order. A
  // copy begins an empty history; assigning to the object, and a history that becomes longer than
  // the list of nodes, begin the next epoch.
  struct History {
    std::uint64_t epoch = 0;
    std::vector<NodeIndex> nodes;

    History() = default;
    History(const History& /*of another object*/) {}
    History& operator=(const History& /*of another object*/) {
      ++epoch;
      nodes.clear();
      return *this;
    }
    ~History() = default;
  };
  const History& history() const { return history_; }

 private:
  using Sum = std::int64_t (*)(std::int64_t, std::int64_t);
  void Note(const Neighbour& pod);
  void Account(NodeIndex node, const Resources& amounts, Sum to_used, Sum to_free);
  std::size_t Slot(NodeIndex n, ResourceIndex r) const {
    return std::size_t{n.Raw()} * fabric_->resources().size() + r.Raw();
  }

  const Fabric* fabric_;
  std::vector<std::int64_t> free_;  // node-major
  ByNode<std::int64_t> used_accelerators_;
  ByNode<std::string> compute_domain_;
  ByNode<std::uint32_t> compute_domain_pods_;  // pods that hold the node's ComputeDomain
  std::vector<PodOn> pods_,
      gone_;  // those of each Add and of each Remove; both shrink now and then
  std::vector<Neighbour> keeping_away_, preferring_;
  Elsewhere::View elsewhere_;
  History history_;
};

}  // namespace weft::fabric
