"""A C++ source as tokens, the places in it that can be mutated, and its text with all mutants in it.

A comparison is told from the bracket of a template by its blanks: clang-format sets one on both sides
of an operator, and none in a template."""

import bisect
import re

TOKEN = re.compile(r"""
    (?P<raw>R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)") |
    (?P<text>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*") | (?P<char>'(?:\\.|[^'\\\n])+') |
    (?P<number>\d(?:[\w.]|'\w|(?<=[eEpP])[+-])*) | (?P<name>[A-Za-z_]\w*) |
    (?P<mark2><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|<<|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=) |
    (?P<other>[^\s\w])""", re.VERBOSE | re.DOTALL)
BETWEEN = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
DIRECTIVE = re.compile(r"[ \t]*#(?:[^\n\\]|\\.)*", re.DOTALL)

COMPARE = {"<": ("<=", "less"), "<=": ("<", "less_equal"), ">": (">=", "greater"),
           ">=": (">", "greater_equal"), "==": ("!=", "equal"), "!=": ("==", "unequal")}
ARITHMETIC = {"+": ("-", "plus"), "-": ("+", "minus"),
              "+=": ("-=", "add"), "-=": ("+=", "subtract")}
LOGIC = {"&&": "||", "||": "&&"}
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
# What ends an operand of && and || to its left and right.
EDGE = {",", ";", "?", ":", "=", "+=", "-=", "|=", "&=", "return", "<<"}
# A statement that begins with one of these is more than a call.
KEYWORDS = set("""return if for while do switch case default break continue const constexpr static auto using
    namespace struct class enum union template typename public private protected friend virtual explicit
    inline extern else try catch throw new delete static_assert goto operator typedef""".split())
# What begins a bracket that holds declarations.
SCOPES = {"class", "struct", "union", "enum", "namespace"}
# Arguments that nobody can see the value of from outside.
UNSEEN = {"WEFT_CHECK", "WEFT_DCHECK", "static_assert", "reserve"}
# The modules that search for a placement, and the functions that say how far they look.
SEARCHING = {"objective", "bound", "search", "placement"}
LIMITS = {"LimitsOf"}
WHOLE = re.compile(r"(\d[\d']*)([uUlLzZ]*)$")


class Token:
    __slots__ = ("kind", "text", "start", "end")

    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)


class Site:
    """One mutant: text[start:end] becomes `new`. `tokens`: indices of the tokens that it replaces."""

    def __init__(self, kind, start, end, new, tokens):
        self.kind, self.start, self.end, self.new, self.tokens = kind, start, end, new, tokens
        self.file = self.line = self.id = self.module = None


def tokenize(text):
    tokens, at = [], 0
    line_start = True
    while at < len(text):
        if line_start and (directive := DIRECTIVE.match(text, at)):
            at = directive.end()
        gap = BETWEEN.match(text, at)
        line_start = at == 0 or "\n" in gap.group() or (at > 0 and text[at - 1] == "\n")
        at = gap.end()
        if line_start and DIRECTIVE.match(text, at):
            continue
        if at >= len(text):
            break
        token = TOKEN.match(text, at)
        kind = token.lastgroup if token.lastgroup != "mark" else "raw"
        tokens.append(Token(kind, token.group(), at))
        at = token.end()
        line_start = False
    return tokens


class Source:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = tokenize(text)
        self.match = self._brackets()
        self.lines = [0] + [m.end() for m in re.finditer("\n", text)]
        self.hidden, self.fixed = self._hidden(), self._fixed()
        self.chains = {}  # first token -> (end, the indices of its && and ||)
        self.sites = self._find()
        for site in self.sites:
            site.file, site.line = path, self.line(site.start)

    def line(self, at):
        return bisect.bisect_right(self.lines, at)

    def is_at(self, index, *texts):
        return 0 <= index < len(self.tokens) and self.tokens[index].text in texts

    def _brackets(self):
        match, stack = {}, []
        self.inside = []  # of each token, the bracket around it; None at the top
        for index, token in enumerate(self.tokens):
            self.inside.append(stack[-1] if stack else None)
            if token.kind == "other" and token.text in OPEN:
                stack.append(index)
            elif token.kind == "other" and token.text in CLOSE and stack:
                match[index] = stack[-1]
                match[stack.pop()] = index
        return match

    def _hidden(self):
        """Tokens that stay what they are: arguments of UNSEEN."""
        hidden = set()
        for index, token in enumerate(self.tokens):
            if token.text in UNSEEN and self.is_at(index + 1, "("):
                hidden.update(range(index, self.match.get(index + 1, index)))
            if token.text in ("requires", "concept"):
                hidden.update(range(index, index + 1))
        return hidden

    def _fixed(self):
        """Constants: first token of "constexpr int kX = 1;" -> the token behind it."""
        fixed = {}
        for index, token in enumerate(self.tokens):
            if token.text != "constexpr" or self.is_at(index - 1, "if"):
                continue
            end = index
            while end < len(self.tokens) and self.tokens[end].text not in (";", "{", "("):
                end += 1
            if any(self.tokens[k].text == "=" for k in range(index, end)):
                while end < len(self.tokens) and self.tokens[end].text != ";":
                    end = self.match.get(end, end) + 1
                fixed[index] = end
        return fixed

    def _spaced(self, index):
        token = self.tokens[index]
        return (self.text[token.start - 1].isspace() and self.text[token.end:token.end + 1].isspace()
                and not self.is_at(index - 1, "operator"))

    def _find(self):
        sites = []
        in_fixed = {k for first, end in self.fixed.items() for k in range(first, end)}
        for index, token in enumerate(self.tokens):
            if index in self.hidden:
                continue
            found = None
            if token.kind == "number":
                found = self._constant(index)
            elif index in in_fixed:
                continue
            elif token.text in COMPARE and self._spaced(index):
                found = Site("compare", token.start, token.end, COMPARE[token.text][0], [index])
            elif token.text in ARITHMETIC and self._spaced(index):
                found = self._arithmetic(index)
            elif token.text in LOGIC and self._spaced(index):
                found = self._logic(index)
            elif token.text in ("if", "while") and self.is_at(index + 1, "("):
                found = self._negation(index)
            elif token.kind == "name":
                found = self._call(index)
            if found:
                sites.append(found)
        return sites

    def _constant(self, index):
        token = self.tokens[index]
        whole = WHOLE.match(token.text)
        pure = (self.is_at(index - 1, "=") and self.is_at(index + 1, ";")
                and self.is_at(index - 2, ")", "const", "override", "noexcept"))
        after = self.tokens[index + 1] if index + 1 < len(self.tokens) else token
        of_a_template = after.text == ">" and after.start == token.end
        if not whole or pure or of_a_template or self.is_at(index - 1, "case", "<"):
            return None
        if self._is_all_ones(index) or self._is_default(index) or self._is_effort(index):
            return None
        value = int(whole[1].replace("'", ""))
        return Site("constant", token.start, token.end, f"{value + 1}{whole[2]}", [index])

    def _is_all_ones(self, index):
        """Whether it is the 0 of ~0U or ~Index{0}: no value, or more than any. ~1 says the same."""
        at, around = index - 1, self.inside[index]
        if around == at and self.is_at(around, "{"):
            at -= 1
            while at >= 0 and (self.tokens[at].kind == "name" or self.is_at(at, "::")):
                at -= 1
        return self.is_at(at, "~")

    def _is_default(self, index):
        """Whether it is what a field of a struct holds until the code that builds the object sets it:
        in the modules that search, such a default keeps the field from being undefined and is seldom
        read. What a user leaves out is in other modules, and a member_ counts from its first value on."""
        if not self._searches():
            return False
        if self.is_at(index - 1, "="):
            name = self.tokens[index - 2].text
            return self._opens(self.inside[index], SCOPES) and not name.endswith("_") and (
                not self._holds(index, "constexpr"))
        brace = self.inside[index]  # "size{1, 1, 1}"
        return (brace is not None and self.tokens[brace].text == "{"
                and self.tokens[brace - 1].kind == "name"
                and not self.tokens[brace - 1].text.endswith("_")
                and not self.is_at(brace - 1, "const", "override", "noexcept")
                and self._opens(self.inside[brace], SCOPES) and not self._holds(brace, "constexpr"))

    def _is_effort(self, index):
        """Whether it says how far a search looks: a constant of the modules that search, or what
        LimitsOf() sets. One more trades time for quality, which the benchmark of quality judges and no
        test of a unit can."""
        if not self._searches() or not self.is_at(index - 1, "=") or (
                not self.is_at(index + 1, ";", ",")):
            return False
        around = self.inside[index]
        if around is None or self._opens(around, {"namespace"}):
            return self._holds(index, "constexpr")
        while around is not None and not self._opens(around, LIMITS):
            around = self.inside[around]
        return around is not None

    def _searches(self):
        return bool(SEARCHING & set(self.path.split("/")[1:2]))

    def _holds(self, index, word):
        """Whether the word stands in front of the token in its statement."""
        at = index - 1
        while at >= 0 and self.tokens[at].text not in (";", "{", "}"):
            if self.tokens[at].text == word:
                return True
            at = self.match.get(at, at) - 1 if self.tokens[at].text in CLOSE else at - 1
        return False

    def _opens(self, brace, words):
        """Whether it is a "{" with one of the words in front of it."""
        return (brace is not None and self.tokens[brace].text == "{"
                and any(self._holds(brace, word) for word in words))

    def _arithmetic(self, index):
        token = self.tokens[index]
        if any(self.tokens[k].kind in ("text", "raw") for k in (index - 1, index + 1)):
            return None
        return Site("arithmetic", token.start, token.end, ARITHMETIC[token.text][0], [index])

    def _edge(self, index, step):
        """The first token on one side of an operand that is not part of it."""
        while 0 <= index < len(self.tokens):
            token = self.tokens[index]
            if token.text in EDGE and token.kind != "text":
                return index
            ends = CLOSE if step > 0 else OPEN
            if token.kind == "other" and token.text in ends:
                return index
            if index in self.match and token.text not in ends:
                inner = self.match[index]
                if step < 0 and token.text == "}" and not self._is_value(index):
                    return index
                index = inner
            index += step
        return index

    def _is_value(self, close):
        """Whether a '}' ends a value ("Foo{1} && x") and no block in front of an expression."""
        return not self.text[self.tokens[close].end:self.tokens[close].end + 1] == "\n"

    def _logic(self, index):
        token = self.tokens[index]
        first, end = self._edge(index - 1, -1) + 1, self._edge(index + 1, 1)
        if any(k in self.hidden for k in range(first, end)):
            return None
        self.chains.setdefault(first, (end, []))[1].append(index)
        return Site("logic", token.start, token.end, LOGIC[token.text], [index])

    def _negation(self, index):
        end = self.match.get(index + 1)
        if end is None:
            return None
        first, at, comparisons, simple, declares = index + 2, index + 2, 0, True, False
        while at < end:
            token = self.tokens[at]
            if token.text == ";":
                first, comparisons, simple, declares = at + 1, 0, True, False
            declares = declares or token.text == "="
            comparisons += token.text in ("==", "!=")
            simple = simple and token.text not in LOGIC
            at = self.match.get(at, at) + 1
        if first >= end or declares or (simple and comparisons == 1):
            return None  # of one comparison, its own mutant is the same
        start, stop = self.tokens[first].start, self.tokens[end - 1].end
        return Site("negate", start, stop, f"!({self.text[start:stop]})", [first, end])

    def _in_a_function(self, index):
        """Whether the innermost bracket around it is that of a block of statements."""
        around = self.inside[index]
        return (around is not None and self.tokens[around].text == "{"
                and not self._opens(around, SCOPES))

    def _call(self, index):
        """A statement that is one call."""
        if (not self._in_a_function(index) or not self.is_at(index - 1, ";", "{", "}")
                or self.tokens[index].text in KEYWORDS | UNSEEN):
            return None
        end, calls = index, 0
        while end < len(self.tokens) and self.tokens[end].text != ";":
            token = self.tokens[end]
            after = self.tokens[end + 1] if end + 1 < len(self.tokens) else None
            if token.kind == "name" and (after is None or after.kind == "name" or token.text in UNSEEN):
                return None
            if token.text in ("=", ">", "*", "&", "{", "}", ":", ",", "?", "+=", "-="):
                return None
            calls += token.text == "("
            end = self.match.get(end, end) + 1
        if not calls or not self.is_at(end - 1, ")"):
            return None
        return Site("call", self.tokens[index].start, self.tokens[end].end, "", [index])

    def mutated(self, without):
        """The text with every mutant whose id is not in `without`, line for line."""
        return Rendering(self, without).text()


class Rendering:
    def __init__(self, source, without):
        self.source, self.tokens = source, source.tokens
        self.instead, self.before, self.logic = {}, {}, {}
        live = [site for site in source.sites if site.id not in without]
        for site in live:
            self._place(site)
        constants = {site.tokens[0] for site in live if site.kind == "constant"}
        for first, end in source.fixed.items():
            if any(k in constants for k in range(first, end)):
                member = source.is_at(first - 1, "static")
                self.instead[first] = "inline const" if member else "const"

    def _place(self, site):
        first, ident = site.tokens[0], site.id
        token = self.tokens[first].text
        on = f"::weft_mutants::on({ident})"
        if site.kind in ("compare", "arithmetic"):
            name = (COMPARE.get(token) or ARITHMETIC.get(token))[1]
            self.instead[first] = f"{token} ::weft_mutants::{name}<{ident}>() {token}"
        elif site.kind == "constant":
            self.instead[first] = f"({on} ? {site.new} : {token})"
        elif site.kind == "logic":
            self.logic[first] = on
        elif site.kind == "call":
            self.before[first] = f"if (!{on}) "
        else:
            self.before[first] = f"{on} != bool("
            self.before[site.tokens[1]] = ")"

    def text(self):
        last = self.tokens[-1].end if self.tokens else 0
        return self._render(0, len(self.tokens), False, None, {}) + self.source.text[last:]

    def _render(self, begin, end, flat, inside, swapped):
        out, at = [], begin
        while at < end:
            token = self.tokens[at]
            start = self.tokens[at - 1].end if at > 0 else 0
            if at > begin or begin == 0:
                out.append(" " if flat else self.source.text[start:token.start])
            if at != inside:
                out.append(self.before.get(at, ""))
            chain = self.source.chains.get(at)
            if chain and at != inside and any(k in self.logic for k in chain[1]):
                out.append(self._chain(at, chain, flat))
                at = chain[0]
                continue
            out.append(swapped.get(at) or self.instead.get(at, token.text))
            at += 1
        return "".join(out)

    def _chain(self, first, chain, flat):
        end, operators = chain
        out = ["("]
        for k in operators:
            if k in self.logic:
                other = self._render(first, end, True, first, {k: LOGIC[self.tokens[k].text]})
                out.append(f"{self.logic[k]} ? bool({other}) : ")
        return "".join(out) + f"bool({self._render(first, end, flat, first, {})}))"
