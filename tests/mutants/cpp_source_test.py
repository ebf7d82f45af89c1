#!/usr/bin/env python3
"""What cpp_source.py takes for a mutant, and the text with all of them."""

import unittest

from cpp_source import Source

EXAMPLES = [
    ("a comparison, and no bracket of a template",
     "bool F(std::vector<int> a, int b) { return a.size() < b; }", ["compare <=",]),
    ("every comparison", "bool b = x == y != z;", ["compare !=", "compare =="]),
    ("signs, and no sign of a number or of a text",
     'x = a + b - -c; s = "a" + t;', ["arithmetic -", "arithmetic +"]),
    ("a sum that is assigned", "n += m;", ["arithmetic -="]),
    ("a reference to an rvalue is no conjunction", "void F(T&& a) { G(a && b); }", ["call ", "logic ||"]),
    ("constants, and neither a case nor a pure function",
     "int i = 1'000U; virtual int F() = 0; case 3: G<4>(); std::array<int, 5> a;",
     ["constant 1001U"]),
    ("conditions, unless one comparison is all of them or they declare something",
     "if (a) {} if (a == b) {} if (auto c = d) {} if (auto c = d; c) {}",
     ["negate !(a)", "compare !=", "negate !(c)"]),
    ("calls, and neither declarations nor returns",
     "{ Foo(a); a.b->C(d)[e].F(); Foo bar(a); std::vector<int> v(n); return F(a); }", ["call ", "call "]),
    ("no declarations in a class", "class A : B<C> { public: A(int b); bool (*d)(int); void F() { G(); } };",
     ["call "]),
    ("no default of a struct's field, but what a member_ starts from and what a function returns",
     "struct A { int a = 0, b = 1; B c{1, 2}; int d_ = 3; int F() const { return 4; } };",
     ["constant 4", "constant 5"]),
    ("no number of which all ones are taken", "i = ~0U; j = ~a::B{0}; k = B{0}; l = ~F(0);",
     ["constant 1", "constant 1"]),
    ("no constant or limit that says how far the search looks",
     "namespace a { constexpr int kMost = 3; L LimitsOf(E e) { if (e) { l.b = 0; } return Of(7); } "
     "int F() { int i = 1; } }", ["negate !(e)", "constant 8", "constant 2"]),
    ("nothing in checks, comments, texts and directives",
     '#define A(b) b < 1\n// a < b\nWEFT_CHECK(a < b); WEFT_DCHECK(a < b); /* c < d */ s = "e < f"; v.reserve(n + m);\n', []),
]

RENDERED = [
    ("return a < b;", "return a < ::weft_mutants::less<0>() < b;"),
    ("n += 1;", "n += ::weft_mutants::add<0>() += (::weft_mutants::on(1) ? 2 : 1);"),
    ("constexpr int kMost = 3;", "const int kMost = (::weft_mutants::on(0) ? 4 : 3);"),
    ("struct A { static constexpr int kMost = 3; };",
     "struct A { static inline const int kMost = (::weft_mutants::on(0) ? 4 : 3); };"),
    ("{ Foo(a); }", "{ if (!::weft_mutants::on(0)) Foo(a); }"),
    ("if (a) b;", "if (::weft_mutants::on(0) != bool(a)) b;"),
    ("x = a && b || c;", "x = (::weft_mutants::on(0) ? bool(a || b || c) : "
     "::weft_mutants::on(1) ? bool(a && b && c) : bool(a && b || c));"),
    ("x = (a &&  // first\n  b) || c;",
     "x = (::weft_mutants::on(1) ? bool(( (::weft_mutants::on(0) ? bool(a || b) : bool(a && b)) ) && c) : "
     "bool(((::weft_mutants::on(0) ? bool(a || b) : bool(a &&  // first\n  b))) || c));"),
]


# Where defaults and limits are left out.
SEARCH, OTHER = "operator/search/a.cc", "operator/plan/a.cc"


def numbered(text, path=SEARCH):
    source = Source(path, text)
    for number, site in enumerate(source.sites):
        site.id = number
    return source


class CppSource(unittest.TestCase):
    def test_finds_what_can_be_mutated(self):
        for name, text, want in EXAMPLES:
            with self.subTest(name):
                self.assertEqual([f"{site.kind} {site.new}" for site in numbered(text).sites], want)

    def test_puts_every_mutant_into_one_text(self):
        for text, want in RENDERED:
            with self.subTest(text):
                self.assertEqual(numbered(text, OTHER).mutated(set()), want)

    def test_leaves_out_what_says_how_far_only_where_a_placement_is_searched(self):
        text = "struct A { int a = 0; }; constexpr int kMost = 3;"
        self.assertEqual(numbered(text, SEARCH).sites, [])
        self.assertEqual([site.new for site in numbered(text, OTHER).sites], ["1", "4"])

    def test_leaves_the_text_as_it_is_without_mutants(self):
        for _, text, _ in EXAMPLES:
            source = numbered(text)
            self.assertEqual(source.mutated({site.id for site in source.sites}), text)

    def test_keeps_the_lines(self):
        text = "if (a &&\n    b) {\n  F(1,\n    2);\n}\n"
        self.assertEqual(numbered(text).mutated(set()).count("\n"), text.count("\n"))
        self.assertEqual([site.line for site in numbered(text).sites], [1, 1, 3, 3, 4])


if __name__ == "__main__":
    unittest.main()
