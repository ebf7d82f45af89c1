#pragma once

#include <string>
#include <vector>

namespace weft::render {

// Folds names that differ in one number, as Slurm does: "su1-n[01-08,12], login". The number that
// folds most names is used (on a tie, the last). Each name counts once; groups and numbers ascend.
// Leading zeros are kept: n[8-10] is n8, n9, n10; n[08-10] is n08, n09, n10. The result does not
// depend on the order of `names`.
//
// Cost  O(names log names).
std::string NodeRanges(std::vector<std::string> names);

// The ranges in at most `most` bytes: the first names in natural order, and how many others there
// are: "n[001-120] and 12 more". At least one name is shown.
std::string ShortRanges(std::vector<std::string> names, std::size_t most);

}  // namespace weft::render
