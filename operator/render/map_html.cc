#include "operator/render/map_html.h"

#include <algorithm>

#include "operator/render/domain_count.h"
#include "operator/render/map_usage.h"
#include "operator/render/table.h"
#include "operator/render/text_format.h"

namespace weft::render {

namespace {

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fabric map</title><style>
:root{color-scheme:light dark;--weft-page:#f4f6f8;--weft-box:#fff;--weft-line:#c3c9d1;
--weft-ink:#1d2733;--weft-dim:#5d6873;--weft-free:#fff;--weft-used:#a4acb6;--weft-off:#f3c9c4;
--weft-bad:#b3261e;--weft-groove:#e8ebef;--weft-bar:#4a5561}
@media (prefers-color-scheme:dark){:root{--weft-page:#12161b;--weft-box:#1a2027;
--weft-line:#3f4a56;--weft-ink:#e6eaee;--weft-dim:#9aa5b1;--weft-free:#222a32;--weft-used:#596470;
--weft-off:#59302c;--weft-bad:#ff8a80;--weft-groove:#2b343d;--weft-bar:#b4bfca}}
body{margin:20px 24px;background:var(--weft-page);color:var(--weft-ink);
font:14px/1.45 system-ui,sans-serif}
h1{font-size:20px;margin:0 0 4px}h2{font-size:17px;margin:28px 0 2px}
p{margin:0 0 12px;color:var(--weft-dim)}.bad{color:var(--weft-bad)}
table{border-collapse:collapse;margin:0 0 12px;background:var(--weft-box)}
th,td{border:1px solid var(--weft-line);padding:3px 10px;text-align:left}
th{font-weight:600;color:var(--weft-dim)}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
td svg{display:block}.map{overflow-x:auto}[data-job]{cursor:pointer}
.picked g[data-job]:not(.on){opacity:.15}.picked tr[data-job]:not(.on){opacity:.45}
</style></head><body>
<h1>Fabric map</h1>
<p>A square is a node (of a large fabric, a domain), filled by its GPUs: grey for earlier pods, a
colour for each planned job. The bar under a name is what leaves the domain per step. Point at
anything for more; click a job to single it out.</p>
)";

constexpr const char* kScript = R"(<script>
document.querySelectorAll('section').forEach(function(section){
  var on=null;
  section.addEventListener('click',function(event){
    var hit=event.target.closest('[data-job]');
    if(!hit)return;
    var job=hit.getAttribute('data-job');
    on=on===job?null:job;
    section.classList.toggle('picked',on!==null);
    section.querySelectorAll('[data-job]').forEach(function(part){
      part.classList.toggle('on',part.getAttribute('data-job')===on);
    });
  });
});
</script></body></html>
)";

constexpr int kSwatch = 14;

std::string Cells(const char* tag, const std::vector<std::string>& texts) {
  // Name and spans are words, the rest numbers.
  std::string out;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool number = i >= 1 && i <= 4;
    out += std::string("<") + tag + (number ? " class=\"n\">" : ">") + EscapeXml(texts[i]) + "</" +
           tag + ">";
  }
  return out;
}

std::string JobRow(const MapJob& job, std::size_t index) {
  std::vector<fabric::NodeIndex> nodes = job.nodes;
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const auto workers = static_cast<std::int64_t>(job.nodes.size());
  const std::string side = std::to_string(kSwatch);
  return "<tr data-job=\"" + std::to_string(index) + "\"><td><svg width=\"" + side +
         "\" height=\"" + side + "\">" + JobSwatch(index, 0, 0, kSwatch) + "</svg></td>" +
         Cells(
             "td",
             {job.name, Grouped(workers), Grouped(SaturatingMultiply(workers, job.gpus_per_worker)),
              Grouped(static_cast<std::int64_t>(nodes.size())), job.cross_node, job.spans}) +
         "</tr>\n";
}

std::string JobTable(const MapInput& map) {
  std::string rows;
  for (std::size_t j = 0; j < map.jobs.size(); ++j) rows += JobRow(map.jobs[j], j);
  for (const MapRefusal& refusal : map.refused) {
    if (refusal.without_fabric) continue;
    rows += "<tr class=\"bad\"><td></td><td>" + EscapeXml(refusal.name) +
            "</td><td colspan=\"5\">not placed: " + EscapeXml(refusal.reason) + "</td></tr>\n";
  }
  if (rows.empty()) return "";
  return "<table><thead><tr><th></th>" +
         Cells("th", {"Job", "Workers", "GPUs", "Nodes", "Between nodes per step", "Spans"}) +
         "</tr></thead><tbody>\n" + rows + "</tbody></table>\n";
}

// Jobs for which no fabric could be named; every map has them.
std::string Nowhere(const MapInput& map) {
  std::string out;
  for (const MapRefusal& refusal : map.refused) {
    if (!refusal.without_fabric) continue;
    out += "<p class=\"bad\">" + EscapeXml(refusal.name) +
           ": not placed: " + EscapeXml(refusal.reason) + "</p>\n";
  }
  return out;
}

// "127 nodes, 1,016 GPUs: 348 held by earlier pods, 512 planned, 148 free, 8 on nodes that take no
// pods (1 node cordoned)".
std::string Sums(const MapInput& map) {
  std::int64_t planned = 0;
  const DomainUsage usage = MapUsage(map).In(fabric::kOutside, 0);
  for (const auto& [job, gpus] : usage.planned) planned = SaturatingAdd(planned, gpus);
  std::string text = Counted(map.fabric->node_count(), "node") + ", " +
                     Counted(usage.total, "GPU") + ": " + Grouped(usage.earlier) +
                     " held by earlier pods, " + Grouped(planned) + " planned, " +
                     Grouped(usage.free) + " free";
  const std::string off = OffText(CountIn(*map.claims, fabric::kOutside, 0));
  if (!off.empty()) text += ", " + Grouped(usage.off) + " on nodes that take no pods (" + off + ")";
  return text;
}

std::string Section(const MapInput& map) {
  std::string out = "<section><h2>" + EscapeXml(map.title) + "</h2>\n<p>" + Sums(map);
  const std::size_t incomplete = map.fabric->incomplete().size();
  if (incomplete > 0) {
    out += "; <span class=\"bad\">" + Counted(static_cast<std::int64_t>(incomplete), "more node") +
           " without all labels, not drawn</span>";
  }
  return out + "</p>\n" + JobTable(map) + "<div class=\"map\">" + MapSvg(map, Legend::kNone) +
         "</div></section>\n";
}

}  // namespace

std::string MapHtml(const std::vector<MapInput>& maps) {
  std::string page = kHead;
  if (!maps.empty()) page += Nowhere(maps.front());
  for (const MapInput& map : maps) page += Section(map);
  return page + kScript;
}

}  // namespace weft::render
