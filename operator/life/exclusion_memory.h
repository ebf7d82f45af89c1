#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "operator/api/job_record.h"
#include "operator/base/timestamp.h"

namespace weft::life {

// Which machine each exclusion of a node is about: the uid that the node had when this operator
// first saw the exclusion, which is when it was written. A node that was made again under the name
// has another uid and has refused nothing, however soon it was made and whatever clocks say. Of
// exclusions from before this operator began, times tell it (exclusion.h, ExcludedAt).
//
// Thread-safety  None.
class ExclusionMemory {
 public:
  // The uid of the node of that name; "": there is none.
  using UidOf = std::function<std::string(const std::string& node)>;

  // Remembers the machines of the owner's new exclusions, and forgets those that have ended. The
  // owner is the uid of a TrainingJob or Placement.
  void See(const std::string& owner, const std::vector<api::ExcludedNode>& excluded,
           UnixSeconds now, const UidOf& uid_of);
  // Removes the exclusions whose node is another machine now.
  void DropMadeAgain(const std::string& owner, const UidOf& uid_of,
                     std::vector<api::ExcludedNode>& excluded) const;
  // Forgets the exclusions of all owners that have ended.
  void DropEnded(UnixSeconds now);

  bool empty() const { return by_owner_.empty(); }

 private:
  struct Machine {
    api::ExcludedNode entry;
    std::string uid;
  };
  std::map<std::string, std::map<std::string, Machine>> by_owner_;  // by owner, then node
};

}  // namespace weft::life
