// A part of every test program of the mutants' build: switches one mutant on, or writes which
// mutants each test reaches.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "tests/mutants/switch.h"

namespace weft_mutants {

int active = -1;
unsigned char reached[kMost];
unsigned char impossible[kMost];

namespace {

// Before what other files initialise, which mutants may be part of.
__attribute__((constructor(101))) void SwitchOn() {
  if (const char* id = std::getenv("WEFT_MUTANT")) active = std::atoi(id);
}

// One line for each test: its name, its milliseconds of processor time, the mutants that it
// reaches.
// "*" has what is reached before a test starts, "!" what the types do not allow.
class Reach : public testing::EmptyTestEventListener {
 public:
  explicit Reach(const char* path) : out_(std::fopen(path, "w")) {
    if (out_ == nullptr) std::abort();
  }

  void OnTestStart(const testing::TestInfo&) override {
    Write("*", 0, reached);
    start_ = std::clock();
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    Write(name.c_str(), (std::clock() - start_) * 1000LL / CLOCKS_PER_SEC, reached);
  }
  void OnTestProgramEnd(const testing::UnitTest&) override {
    Write("!", 0, impossible);
    std::fclose(out_);
  }

 private:
  void Write(const char* name, long long milliseconds, unsigned char* set) {
    std::fprintf(out_, "%s %lld", name, milliseconds);
    for (int id = 0; id < kMost; ++id) {
      if (set[id] != 0) std::fprintf(out_, " %d", id);
    }
    std::fprintf(out_, "\n");
    std::memset(set, 0, kMost);
  }

  std::FILE* out_;
  std::clock_t start_ = 0;
};

const bool kListens = [] {
  const char* path = std::getenv("WEFT_MUTANTS_REACHED");
  if (path != nullptr) testing::UnitTest::GetInstance()->listeners().Append(new Reach(path));
  return path != nullptr;
}();

}  // namespace
}  // namespace weft_mutants
