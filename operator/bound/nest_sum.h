#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "operator/bound/nest.h"

namespace weft::bound {

// A lower bound of a job's cost between the domains of all levels of a nest, from lower bounds of
// the bytes that leave a set of workers, by its size. A domain's number of workers is the sum over
// its children.
//
// How: bottom up, for every domain and every number of workers in it, the least sum over its
// children. Domains with the same rooms are one class. If that takes too many steps, or if the
// costs are convex, the lower convex hulls of the costs are summed instead: their sum is below the
// least sum by at most one domain's distance from its hull.
//
// Cost  O(nodes x levels) to make. Least: O(room of a domain x room of its parent) for each class
//       and child; the sum of their rooms if hulls are summed.
class NestSum {
 public:
  // `grain[l]`: workers of a unit at level l; domains of the level hold whole units. Each entry is
  // a multiple of the one before. Returns nothing if the job does not fit in whole units, so that
  // every object has a sum.
  static std::optional<NestSum> Of(const objective::Instance& instance, std::span<const Level> nest,
                                   Run run, std::vector<std::uint32_t> grain);

  // `leaving[l][k]`: least bytes that leave k units in a domain of level l; each pair counts from
  // both sides. After `most_steps` additions hulls are summed. `remember` keeps what Used needs.
  using Leaving = std::vector<const std::vector<double>*>;
  double Least(const Leaving& leaving, std::uint64_t most_steps, bool remember = false);
  // How many domains of `level` hold k units, by k, in a cheapest choice; a fraction of a domain if
  // hulls were summed. Precondition: the last call was Least, with `remember`.
  std::vector<double> Used(std::size_t level) const;

  // About how many additions this object has done.
  std::uint64_t steps() const { return all_steps_; }
  // The largest number of units in a domain of the level.
  std::uint64_t Most(std::size_t level) const;

 private:
  NestSum(const objective::Instance& instance, std::span<const Level> nest, Run run,
          std::vector<std::uint32_t> grain);

  // Domains of a level with the same rooms. Level 0 is the narrowest; the last is the whole run.
  struct Class {
    std::size_t level;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> children;  // class, number of children
    std::uint64_t room;                                             // in units of the level
  };
  // A piece of the lower convex hull of a class's costs, from one corner to the next.
  struct Segment {
    double slope;
    std::uint64_t begin, end;  // in units
  };
  struct Table {
    std::vector<double> cost;  // by number of units
    std::vector<Segment> hull;
    bool convex = true;
    // Segments of the children whose hulls are summed, by slope.
    struct OfChild {
      Segment segment;
      std::uint32_t child, copies;
    };
    std::vector<OfChild> hulls;
    // The other children in order, each with the sum of all earlier ones.
    std::vector<std::pair<std::uint32_t, std::vector<double>>> before;
  };

  // The class of each domain of a level; classes[0] is that of domain `first`.
  struct ClassesOfLevel {
    fabric::DomainIndex first{0};
    std::vector<std::uint32_t> classes;
  };
  class ClassMaker;
  ClassesOfLevel AddNarrowest(const objective::Instance& instance, const Level& level, Run run);
  ClassesOfLevel AddWider(const objective::Instance& instance, std::span<const Level> nest,
                          std::size_t level, Run run, ClassesOfLevel narrower);
  std::uint32_t AddClass(std::size_t level, const std::vector<std::uint32_t>& children);
  bool HoldsTheJob() const {
    return !classes_.empty() && classes_.back().room * grain_.back() >= workers_;
  }
  static void FindHull(const std::vector<double>& cost, std::vector<Segment>& hull);
  std::uint64_t StepsOf(std::size_t level) const;
  void Fold(const Class& domain, bool hulls, bool remember, Table& table) const;
  using Wanted = std::vector<std::vector<double>>;  // domains of a class, by units in them
  void Split(std::size_t domain, std::uint64_t units, double weight, Wanted& wanted) const;

  std::uint64_t workers_;
  std::vector<std::uint32_t> grain_;
  std::vector<double> steps_;   // of weight, by level; halved, as a pair counts from both sides
  std::vector<Class> classes_;  // children before parents, narrower levels first
  std::vector<Table> tables_;   // by class
  std::uint64_t all_steps_ = 0;
  bool remembered_ = false;  // whether `tables_` have what Used needs
};

}  // namespace weft::bound
