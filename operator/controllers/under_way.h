#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "operator/run/clock.h"

namespace weft::controllers {

// The work of all threads that is under way, and since when, so that a hang shows.
// Thread-safety  all calls may run at once.
class UnderWay {
 public:
  // `clock` must outlive it.
  explicit UnderWay(const run::Clock& clock) : clock_(clock) {}

  // Work lasts as long as its mark, which the UnderWay must outlive.
  class Mark {
   public:
    Mark(UnderWay& all, std::string_view what);
    ~Mark();
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    UnderWay& all_;
    std::multimap<run::Instant, std::string_view>::iterator place_;
  };

  struct Work {
    std::string_view what;
    run::Millis time;
  };
  // What has lasted longest; nothing if all threads wait for work.
  std::optional<Work> Longest() const;

 private:
  const run::Clock& clock_;
  mutable std::mutex mutex_;
  std::multimap<run::Instant, std::string_view> begun_;
};

}  // namespace weft::controllers
