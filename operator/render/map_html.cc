#include "operator/render/map_html.h"

namespace weft::render {

namespace {

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Weft fabric map</title><style>
:root{--weft-page:#f8f9fb;--weft-box:#fff;--weft-line:#c3c9d1;--weft-ink:#1d2733;--weft-dim:#66717e;
--weft-free:#eef1f4;--weft-used:#a9b1bb;--weft-off:#f3c9c4;--weft-bar:#8a96a3}
@media (prefers-color-scheme:dark){:root{--weft-page:#14181d;--weft-box:#1c2229;--weft-line:#3a444f;
--weft-ink:#e6eaee;--weft-dim:#9aa5b1;--weft-free:#2b333c;--weft-used:#5c6772;--weft-off:#6b3530;
--weft-bar:#7d8a97}}
body{margin:24px;background:var(--weft-page);color:var(--weft-ink);
font:14px/1.45 system-ui,sans-serif}h1{font-size:20px;margin:0 0 4px}h2{font-size:16px;margin:24px 0 8px}
p{margin:0 0 12px;color:var(--weft-dim)}svg{max-width:100%;height:auto}[data-key]{cursor:pointer}
.dim{opacity:.15}</style></head><body>
<h1>Fabric map</h1>
<p>A square is a node, filled by its GPUs: grey for earlier pods, colour for the planned jobs. Hover for
names; click a job in the legend to single it out.</p>
)";

constexpr const char* kScript = R"(<script>
document.querySelectorAll('svg').forEach(function(svg){var on=null;
svg.querySelectorAll('[data-key]').forEach(function(key){key.addEventListener('click',function(){
var job=key.getAttribute('data-key');on=on===job?null:job;
svg.querySelectorAll('[data-job]').forEach(function(cell){
cell.classList.toggle('dim',on!==null&&cell.getAttribute('data-job')!==on);});
svg.querySelectorAll('[data-key]').forEach(function(other){
other.classList.toggle('dim',on!==null&&other.getAttribute('data-key')!==on);});});});});
</script></body></html>
)";

}  // namespace

std::string MapHtml(const std::vector<MapInput>& maps) {
  std::string page = kHead;
  for (const MapInput& map : maps) {
    page += "<section><h2>" + EscapeXml(map.title) + "</h2>\n" + MapSvg(map) + "</section>\n";
  }
  return page + kScript;
}

}  // namespace weft::render
