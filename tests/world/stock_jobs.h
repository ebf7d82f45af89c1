#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/world/actor.h"
#include "tests/world/job_controller.h"
#include "tests/world/laws.h"

namespace weft::world {

// batch/v1 Jobs in a world whose pods Weft places: their controller, who applies them, and a law.
class StockJobs {
 public:
  struct Options {
    std::vector<std::string> spaces;
    std::function<std::int64_t()> now_seconds;
    std::function<void(Json& job, std::size_t number)> dress;  // labels it may have besides
    std::uint64_t seed = 1;
  };
  StockJobs(Fibers& fibers, ApiServer& server, Options options);

  void OnChange(const Change& change) { controller_.OnChange(change); }
  // Somebody applies a Job. Those of one number are the same whichever others are left out.
  void Submit(std::size_t number);
  bool AllEnded() const;
  // After the evening.
  void LookAtEvening(Laws& laws) const;

 private:
  const ApiServer& server_;
  Actor user_;
  const Options options_;
  JobController controller_;
};

}  // namespace weft::world
