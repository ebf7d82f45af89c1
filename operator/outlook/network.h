#pragma once

#include <array>
#include <vector>

#include "operator/traffic/spec.h"

namespace weft::outlook {

// One kind of link that a group's messages cross, for the group's worst placed member.
struct Crossing {
  // Usable rates in one direction: a GPU's share while all its neighbours send, and a single GPU's.
  double bytes_per_second = 0;
  double line_bytes_per_second = 0;  // at least bytes_per_second
  // Members of the group on the near side of the link, which send at the same time, and how often
  // the group's ring leaves that side. Both are 1 for the link inside a node or scale-up domain.
  double members = 1;
  double exits = 1;
  double latency_seconds = 0;  // for one message
  bool scale_up = false;       // the link is inside a node or scale-up domain
};

// The links that the groups of one axis use, narrowest first; empty for groups of one rank.
struct Path {
  double ranks = 1;  // in a group
  std::vector<Crossing> crossings;
};

// The path of each axis; the gradients of experts have groups and a path of their own.
struct Network {
  std::array<Path, traffic::kAxisCount> paths;
  Path expert_gradients;

  Path& operator[](traffic::Axis axis) { return paths[static_cast<std::size_t>(axis)]; }
  const Path& operator[](traffic::Axis axis) const { return paths[static_cast<std::size_t>(axis)]; }
};

// Seconds of one collective of n ranks. `bytes`: the whole buffer that each rank ends with
// (all-reduce, gather), starts with (all-to-all) or sends (pair).
//
// share is bytes_per_second of a crossing, line its line_bytes_per_second.
//
//   rate        min over crossings of members/exits x share (a ring has a lane for each member)
//   all-reduce  2 (n - 1)/n bytes/rate + (1 + log2 n) latency
//   gather      half of an all-reduce: an all-gather or reduce-scatter
//   all-to-all  max over crossings of (n - near)/n bytes/share + latency; near: members
//   pair        bytes / min(line, members/exits x share) + latency
//
// Source  Thakur et al., "Optimization of Collective Communication Operations in MPICH", 2005. A
//         ring over several NICs has the sum of their rates: NCCL, src/graph/search.cc; 64 x H100
//         with 8 NDR ports measure 386 GB/s, and 384 are predicted.
double AllReduceSeconds(const Path& path, double bytes);
double GatherSeconds(const Path& path, double bytes);
double AllToAllSeconds(const Path& path, double bytes);
double PairSeconds(const Path& path, double bytes);

}  // namespace weft::outlook
