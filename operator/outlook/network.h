#pragma once

#include <array>
#include <vector>

#include "operator/traffic/spec.h"

namespace weft::outlook {

// One kind of link that a group's messages cross, as the worst placed of its members meets it.
struct Crossing {
  // Usable, one direction: a GPU's share while all its neighbours send, and one GPU alone.
  double bytes_per_second = 0;
  double line_bytes_per_second = 0;  // at least the share
  // Members of the group on the near side of the link, which send side by side, and how often the
  // group's ring leaves that side. 1 and 1 for the link inside a node or scale-up domain.
  double members = 1;
  double exits = 1;
  double latency_seconds = 0;  // of one message
};

// What the groups of one axis run over, narrowest link first. No crossings: groups of one rank.
struct Path {
  double ranks = 1;  // of a group
  std::vector<Crossing> crossings;
};

// By axis; the gradients of experts travel in groups of their own.
struct Network {
  std::array<Path, traffic::kAxisCount> paths;
  Path expert_gradients;

  Path& operator[](traffic::Axis axis) { return paths[static_cast<std::size_t>(axis)]; }
  const Path& operator[](traffic::Axis axis) const { return paths[static_cast<std::size_t>(axis)]; }
};

// Seconds of one collective of n ranks. Bytes of the whole buffer: what each rank ends with
// (all-reduce, gather), or starts with (all-to-all), or sends (pair).
//
//   rate        min over crossings of members/exits x share (a ring has a lane for each member)
//   all-reduce  2 (n - 1)/n bytes/rate + (1 + log2 n) latency
//   gather      half of that: all-gather, or reduce-scatter
//   all-to-all  max over crossings of (n - near)/n bytes/share + latency; near: members
//   pair        bytes / min(line, members/exits x share) + latency
//
// Source  Thakur et al., "Optimization of Collective Communication Operations in MPICH", 2005. A
//         ring over several NICs runs at their sum: NCCL, src/graph/search.cc, and 64 x H100 on 8
//         NDR measure 386 GB/s where 384 are predicted.
double AllReduceSeconds(const Path& path, double bytes);
double GatherSeconds(const Path& path, double bytes);
double AllToAllSeconds(const Path& path, double bytes);
double PairSeconds(const Path& path, double bytes);

}  // namespace weft::outlook
