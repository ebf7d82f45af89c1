// The solver of `poisoned-operator`, which is weft-operator linked with --wrap: it crashes on a job
// whose pods have the toleration weft.test/crash. The program's other code is the shipped one.
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

#include "operator/base/check.h"
#include "operator/placement/place.h"

// The linker sends calls of placement::Place here, and keeps the true one under another name. If
// its signature changes, so do these names (nm libweft_placement.a).
#define WEFT_PLACE                                                                     \
  "_ZN4weft9placement5PlaceERKNS_6fabric6ClaimsERKNS_9objective7RequestERKNS_7traffic" \
  "11WorkerGraphERKNS5_7OptionsE"

namespace weft::placement {

Placement TruePlace(const fabric::Claims& claims, const objective::Request& request,
                    const traffic::WorkerGraph& graph,
                    const objective::Options& options) asm("__real_" WEFT_PLACE);
Placement PoisonedPlace(const fabric::Claims& claims, const objective::Request& request,
                        const traffic::WorkerGraph& graph,
                        const objective::Options& options) asm("__wrap_" WEFT_PLACE);

namespace {

// Deeper than any stack. Inlined into itself it would have frames of several pages, and step over
// the guard page into the stack of another thread.
[[gnu::noinline]] int Overflow(volatile const int* depth) {  // NOLINT(misc-no-recursion)
  if (*depth == std::numeric_limits<int>::max()) return 0;
  volatile int frame[512] = {*depth + 1};
  return Overflow(frame) + frame[0];
}

void Crash(const std::string& how) {
  if (how == "overflow") {
    const int depth = 0;
    Overflow(&depth);
  }
  if (how == "throw") throw std::logic_error("poison");
  WEFT_CHECK(how == "abort" && how.empty());
}

}  // namespace

Placement PoisonedPlace(const fabric::Claims& claims, const objective::Request& request,
                        const traffic::WorkerGraph& graph, const objective::Options& options) {
  for (const rules::Toleration& one : request.pod.tolerations) {
    if (one.key == "weft.test/crash") Crash(one.value);
  }
  return TruePlace(claims, request, graph, options);
}

}  // namespace weft::placement
