#pragma once

#include <optional>

#include "operator/search/filled.h"

namespace weft::search {

// A good placement of the open workers to begin with: the best of greedy starts and of all workers
// in one domain in their order, each with a local search (moves to other nodes, and swaps). Nothing
// if no start has found one.
//
// Cost  at most `looks`.
std::optional<Filled> FindStart(OpenBoard& board, const fabric::Fabric& fabric,
                                const OpenOrder& order, LooksLeft& looks);

}  // namespace weft::search
