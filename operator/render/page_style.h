#pragma once

namespace weft::render {

// The colours of every page, light and dark, as custom properties; the first rules of its style.
inline constexpr const char* kPageColours =
    R"(:root{color-scheme:light dark;--weft-page:#f4f6f8;--weft-box:#fff;--weft-line:#c3c9d1;
--weft-ink:#1d2733;--weft-dim:#5d6873;--weft-free:#fff;--weft-used:#a4acb6;--weft-off:#f3c9c4;
--weft-bad:#b3261e;--weft-groove:#e8ebef;--weft-bar:#4a5561}
@media (prefers-color-scheme:dark){:root{--weft-page:#12161b;--weft-box:#1a2027;
--weft-line:#3f4a56;--weft-ink:#e6eaee;--weft-dim:#9aa5b1;--weft-free:#222a32;--weft-used:#596470;
--weft-off:#59302c;--weft-bad:#ff8a80;--weft-groove:#2b343d;--weft-bar:#b4bfca}}
)";

}  // namespace weft::render
