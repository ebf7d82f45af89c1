#pragma once

// Before a function whose inner loop the compiler turns into vector instructions: it is compiled
// for AVX2 and AVX-512 too, and the processor decides at start which one is called. The results are
// the same to the bit as long as the loop only adds, compares and selects.
//
// Only GCC on x86-64: other targets have one set of vectors that every processor knows. Without it
// under sanitizers, which are not ready when the choice is made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WEFT_LANES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define WEFT_LANES
#endif
