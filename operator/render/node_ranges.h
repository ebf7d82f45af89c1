#pragma once

#include <string>
#include <vector>

namespace weft::render {

// Names folded where they differ in one number, as Slurm writes them: "su1-n[01-08,12], login".
// The number that folds best is taken (the last one where equal), each name counts once, groups and
// numbers ascend. Numbers keep their leading zeros: n[8-10] is n8, n9, n10; n[08-10] is n08, n09,
// n10. The answer does not depend on the order of `names`.
//
// Cost  O(names log names).
std::string NodeRanges(std::vector<std::string> names);

// The ranges in at most `most` bytes: the first names in natural order, and the number of the
// others: "n[001-120] and 12 more". At least one name is shown.
std::string ShortRanges(std::vector<std::string> names, std::size_t most);

}  // namespace weft::render
