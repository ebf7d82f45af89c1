#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tests/world/api_server.h"
#include "tests/world/fibers.h"
#include "tests/world/wire.h"

namespace weft::world {

// A day as one page to look at: what each job and each node did, who led, the faults and the
// writes. Cost  O(changes) in memory of the parts that are drawn.
class Timeline {
 public:
  void OnChange(const Change& change, Instant now);
  void OnFault(const std::string& what, Instant now);
  void OnSent(const Sent& sent, Instant now);

  // The whole page. `title` and `broken` are texts.
  std::string Page(const std::string& title, const std::vector<std::string>& broken,
                   Instant end) const;

 private:
  // One bar of a row.
  struct Part {
    Instant begin{}, end{};
    std::string kind;  // a class of the style
    std::string words;
  };
  using Row = std::vector<Part>;
  struct Mark {
    Instant at{};
    std::string words;
  };
  struct Counts {
    std::size_t reads = 0, writes = 0, refused = 0;
  };
  void Set(std::map<std::string, Row>& rows, const std::string& name, Instant now,
           const std::string& kind, const std::string& words);
  void OnJob(const Change& change, Instant now);
  void OnPod(const Change& change, Instant now);
  void OnNode(const Change& change, Instant now);
  void OnLease(const Change& change, Instant now);
  std::string Writes(Instant end) const;

  std::vector<std::string> order_;  // of jobs, as they came
  std::map<std::string, Row> jobs_, nodes_, leaders_;
  std::map<std::string, std::map<std::string, std::string>> on_node_;  // pod by node: its job
  std::map<std::string, bool> down_;                                   // nodes that are not Ready
  std::vector<Mark> faults_;
  std::map<std::string, std::map<std::size_t, Counts>> sent_;  // by machine and minute
};

}  // namespace weft::world
