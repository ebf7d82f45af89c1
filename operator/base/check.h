#pragma once

#include <cstdio>
#include <cstdlib>

// Aborts when an invariant of our own is broken. Never for bad input: that is an Error.
#define WEFT_CHECK(condition)                                                                \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
