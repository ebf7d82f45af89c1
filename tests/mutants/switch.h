// Put in front of every source of the mutants' build. Each mutant is in the program, and one of
// them at a time is switched on: on(17) is true in a process whose $WEFT_MUTANT is 17.
//
// An operator becomes `a < less<17>() < b`: of the same precedence, so that nothing else of the
// expression moves. Where the types have no such other operator, the mutant does not compile: it is
// marked, and the operator stays what it was.
#pragma once

#if __cplusplus >= 202002L  // not where CMake tries the compiler

#include <compare>
#include <type_traits>

namespace weft_mutants {

inline constexpr int kMost = 1 << 17;

extern int active;
extern unsigned char reached[kMost];     // by the test that runs
extern unsigned char impossible[kMost];  // the types do not allow it

[[gnu::always_inline]] inline bool on(int id) {
  reached[id] = 1;
  return active == id;
}

template <int id>
struct Impossible {
  static inline const bool marked = (impossible[id] = 1, true);
};

// Can be compared with a literal 0 alone.
template <typename T>
inline constexpr bool is_ordering =
    std::is_same_v<T, std::strong_ordering> || std::is_same_v<T, std::weak_ordering> ||
    std::is_same_v<T, std::partial_ordering>;

#define WEFT_MUTANT_COMPARE(name, is, other)                                        \
  template <int id>                                                                 \
  struct name {};                                                                   \
  template <typename T, int id>                                                     \
  struct name##Left {                                                               \
    const T& value;                                                                 \
  };                                                                                \
  template <typename T, int id>                                                     \
  [[gnu::always_inline]] inline auto operator is(const T& a, name<id>) {            \
    return name##Left<T, id>{a};                                                    \
  }                                                                                 \
  template <typename T, int id, typename U>                                         \
  [[gnu::always_inline]] inline bool operator is(name##Left<T, id> a, const U& b) { \
    if constexpr (is_ordering<T>) {                                                 \
      return on(id) ? bool(a.value other 0) : bool(a.value is 0);                   \
    } else if constexpr (requires { bool(a.value other b); }) {                     \
      return on(id) ? bool(a.value other b) : bool(a.value is b);                   \
    } else {                                                                        \
      (void)Impossible<id>::marked;                                                 \
      return bool(a.value is b);                                                    \
    }                                                                               \
  }

WEFT_MUTANT_COMPARE(less, <, <=)
WEFT_MUTANT_COMPARE(less_equal, <=, <)
WEFT_MUTANT_COMPARE(greater, >, >=)
WEFT_MUTANT_COMPARE(greater_equal, >=, >)
WEFT_MUTANT_COMPARE(equal, ==, !=)
WEFT_MUTANT_COMPARE(unequal, !=, ==)

#define WEFT_MUTANT_ARITHMETIC(name, is, other)                                     \
  template <int id>                                                                 \
  struct name {};                                                                   \
  template <typename T, int id>                                                     \
  struct name##Left {                                                               \
    const T& value;                                                                 \
  };                                                                                \
  template <typename T, int id>                                                     \
  [[gnu::always_inline]] inline auto operator is(const T& a, name<id>) {            \
    return name##Left<T, id>{a};                                                    \
  }                                                                                 \
  template <typename T, int id, typename U>                                         \
  [[gnu::always_inline]] inline auto operator is(name##Left<T, id> a, const U& b) { \
    using Sum = decltype(a.value is b);                                             \
    if constexpr (requires { Sum(a.value other b); }) {                             \
      return on(id) ? Sum(a.value other b) : Sum(a.value is b);                     \
    } else {                                                                        \
      (void)Impossible<id>::marked;                                                 \
      return a.value is b;                                                          \
    }                                                                               \
  }

WEFT_MUTANT_ARITHMETIC(plus, +, -)
WEFT_MUTANT_ARITHMETIC(minus, -, +)

// `a += add<17>() += b` is `a += (add<17>() += b)`.
#define WEFT_MUTANT_ASSIGN(name, is, other)                                  \
  template <int id>                                                          \
  struct name {};                                                            \
  template <typename U, int id>                                              \
  struct name##Right {                                                       \
    const U& value;                                                          \
  };                                                                         \
  template <typename U, int id>                                              \
  [[gnu::always_inline]] inline auto operator is(name<id>, const U& b) {     \
    return name##Right<U, id>{b};                                            \
  }                                                                          \
  template <typename T, typename U, int id>                                  \
  [[gnu::always_inline]] inline T& operator is(T& a, name##Right<U, id> b) { \
    if constexpr (requires { a other b.value; }) {                           \
      if (on(id)) {                                                          \
        a other b.value;                                                     \
        return a;                                                            \
      }                                                                      \
    } else {                                                                 \
      (void)Impossible<id>::marked;                                          \
    }                                                                        \
    a is b.value;                                                            \
    return a;                                                                \
  }

WEFT_MUTANT_ASSIGN(add, +=, -=)
WEFT_MUTANT_ASSIGN(subtract, -=, +=)

}  // namespace weft_mutants

#endif
