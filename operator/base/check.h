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
