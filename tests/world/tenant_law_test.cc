#include <gtest/gtest.h>

#include "tests/world/world.h"

namespace weft::world {
namespace {

// The law looks at writes that the API server takes: on a day without faults each of them is seen
// and changes nothing for others.
TEST(TenantLaw, LooksAtWhatATenantMayWrite) {
  World::Options options;
  options.seed = 3;
  options.nodes = 16;
  options.jobs = 24;
  options.faults = 0;
  options.day = std::chrono::seconds(4 * 3'600);
  World world(options);
  world.Play();
  for (const Violation& one : world.broken()) ADD_FAILURE() << one.law << ": " << one.text;
  EXPECT_GE(world.tenant_writes(), 8U);
}

}  // namespace
}  // namespace weft::world
