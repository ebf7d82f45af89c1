#pragma once

#include <cstdio>
#include <cstdlib>

// Aborts if one of our own invariants does not hold. Bad input is never checked this way: it gives
// an Error.
#define WEFT_CHECK(condition)                                                                \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)

// WEFT_CHECK for hot loops: only in builds with WEFT_DCHECKS (CMakeLists.txt). In the others the
// condition must still compile, but is never evaluated.
#ifdef WEFT_DCHECKS
#define WEFT_DCHECK(condition) WEFT_CHECK(condition)
#else
#define WEFT_DCHECK(condition)                  \
  do {                                          \
    if (false) static_cast<void>(!(condition)); \
  } while (false)
#endif
