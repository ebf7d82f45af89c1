#include "operator/render/map_html.h"

#include <algorithm>

#include "operator/render/domain_count.h"
#include "operator/render/map_usage.h"
#include "operator/render/page_card.h"
#include "operator/render/page_style.h"
#include "operator/render/table.h"
#include "operator/render/text_format.h"

namespace weft::render {

namespace {

constexpr const char* kMapHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fabric map</title><link rel="icon" href="data:,"><style>
)";
constexpr const char* kMapStyle =
    R"(body{margin:20px 24px;background:var(--weft-page);color:var(--weft-ink);
font:14px/1.45 system-ui,sans-serif}
h1{font-size:20px;margin:0 0 4px}h2{font-size:17px;margin:28px 0 2px}
p{margin:0 0 12px;color:var(--weft-dim)}.bad{color:var(--weft-bad)}
table{border-collapse:collapse;margin:0 0 12px;background:var(--weft-box)}
th,td{border:1px solid var(--weft-line);padding:3px 10px;text-align:left}
th{font-weight:600;color:var(--weft-dim)}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
td svg{display:block}.map{overflow-x:auto}[data-job]{cursor:pointer}
@media(max-width:600px){body{margin:12px}thead{display:none}table,tbody{display:block}
tr{display:flex;flex-wrap:wrap;gap:0 12px;padding:6px 8px;border-bottom:1px solid var(--weft-line)}
td{border:0;padding:0}td:nth-child(2){flex:1 0 80%;font-weight:600}
tr:not(.bad) td:nth-child(3):after{content:" workers"}tr:not(.bad) td:nth-child(4):after{content:
" GPUs"}td:nth-child(5):after{content:" nodes"}td:nth-child(6):after{content:" between nodes"}}
p.lost{display:none}.lost p.lost{display:block}
tr.bad td:last-child{max-width:60em}
@media(min-width:900px){.map svg{max-width:100%;height:auto}}
.picked g[data-job]:not(.on){opacity:.15}.picked tr[data-job]:not(.on){opacity:.45}
</style></head><body>
<h1>Fabric map</h1>
)";

constexpr const char* kPlanned =
    R"(<p>A square is a node (of a large fabric, a domain), filled by its GPUs: grey for earlier pods, a
colour for each planned job. The bar under a name shows the bytes that leave the domain per step, and
the edge of a domain is the warmer, the longer they take. Point at anything for more; click a job to highlight it.</p>
)";
constexpr const char* kLive =
    R"(<p>A square is a node (of a large fabric, a domain), filled by its GPUs: a colour for each job,
grey for lone pods. The bar under a name shows the bytes that are predicted to leave the domain per
step, and the edge of a domain is the warmer, the longer they take. Point at anything for more, at a job for why it is there and what is predicted of it; click a
job to highlight it.</p>
)";

// The highlighted job is remembered by name, so that it stays highlighted when the page is drawn
// again.
constexpr const char* kScript = R"(<script>
var main=document.querySelector('main'),on=null;
function show(){
  main.classList.toggle('picked',on!==null);
  main.querySelectorAll('section').forEach(function(section){
    var numbers={};
    section.querySelectorAll('tr[data-name]').forEach(function(row){
      numbers[row.getAttribute('data-job')]=row.getAttribute('data-name');
    });
    section.querySelectorAll('[data-job]').forEach(function(part){
      part.classList.toggle('on',numbers[part.getAttribute('data-job')]===on);
    });
  });
}
main.addEventListener('click',function(event){
  var hit=event.target.closest('[data-job]');
  if(!hit)return;
  var row=hit.closest('section').querySelector('tr[data-job="'+hit.getAttribute('data-job')+'"]');
  var name=row.getAttribute('data-name');
  on=on===name?null:name;
  show();
  var first=on!==null&&hit===row?row.closest('section').querySelector('.map g.on'):null;
  if(first)first.scrollIntoView({block:'nearest'});
});
)";

constexpr const char* kScriptEnd = "</script></body></html>\n";

// If a new picture cannot be fetched, the last one stays, with a message.
constexpr const char* kRefresh = R"(function refresh(){
  fetch(location.href,{cache:'no-store'}).then(function(answer){
    if(!answer.ok)throw new Error(answer.status);
    return answer.text();
  }).then(function(text){
    var next=new DOMParser().parseFromString(text,'text/html').querySelector('main');
    main.replaceChildren.apply(main,next.childNodes);
    document.body.classList.remove('lost');
    show();
  }).catch(function(){document.body.classList.add('lost');})
  .finally(function(){setTimeout(refresh,SECONDS*1000);});
}
setTimeout(refresh,SECONDS*1000);
)";

std::string Cells(const char* tag, const std::vector<std::string>& texts) {
  // Name and spans are text columns; the other columns are numbers.
  std::string out;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool number = i >= 1 && i <= 4;
    out += std::string("<") + tag + (number ? " class=\"n\">" : ">") + EscapeXml(texts[i]) + "</" +
           tag + ">";
  }
  return out;
}

std::string JobRow(const MapJob& job, std::size_t index) {
  std::vector<fabric::NodeIndex> nodes = job.nodes.Items();
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const auto workers = static_cast<std::int64_t>(job.nodes.size());
  const std::string side = std::to_string(kMapSwatch);
  const std::string name = EscapeXml(job.name);
  const std::string all =
      job.why + (job.why.empty() || job.predicted.empty() ? "" : "; ") + job.predicted;
  const std::string why = all.empty() ? "" : " title=\"" + EscapeXml(all) + "\"";
  return "<tr data-job=\"" + std::to_string(index) + "\" data-name=\"" + name + "\"" + why +
         "><td><svg width=\"" + side + "\" height=\"" + side + "\">" +
         JobSwatch(index, 0, 0, kMapSwatch) + "</svg></td>" +
         Cells(
             "td",
             {job.name, Grouped(workers), Grouped(SaturatingMultiply(workers, job.gpus_per_worker)),
              Grouped(static_cast<std::int64_t>(nodes.size())), job.cross_node, job.spans}) +
         "</tr>\n";
}

std::string JobTable(const MapInput& map) {
  std::string rows;
  for (std::size_t j = 0; j < map.jobs.size(); ++j) rows += JobRow(map.jobs[j], j);
  for (const MapUnplaced& job : map.unplaced) {
    if (job.without_fabric) continue;
    rows += "<tr class=\"bad\"><td></td><td>" + EscapeXml(job.name) +
            "</td><td colspan=\"5\">not placed: " + EscapeXml(job.refusal.reason) +
            (job.refusal.message.empty() ? "" : ". " + EscapeXml(job.refusal.message)) +
            "</td></tr>\n";
  }
  if (rows.empty()) return "";
  return "<table><thead><tr><th></th>" +
         Cells("th", {"Job", "Workers", "GPUs", "Nodes", "Between nodes per step", "Spans"}) +
         "</tr></thead><tbody>\n" + rows + "</tbody></table>\n";
}

// Jobs for which no fabric was chosen; they are on every map.
std::string Nowhere(const MapInput& map) {
  std::string out;
  for (const MapUnplaced& job : map.unplaced) {
    if (!job.without_fabric) continue;
    const std::string why =
        job.refusal.message.empty() ? "" : " title=\"" + EscapeXml(job.refusal.message) + "\"";
    out += "<p class=\"bad\"" + why + ">" + EscapeXml(job.name) +
           ": not placed: " + EscapeXml(job.refusal.reason) + "</p>\n";
  }
  return out;
}

// Words for GPUs that no job on the map uses, and for those that a job uses.
struct Words {
  const char* held;
  const char* planned;
};
constexpr Words kOfPlan{"held by earlier pods", "planned"};
constexpr Words kOfCluster{"held by lone pods", "by jobs"};

// "127 nodes, 1,016 GPUs: 348 held by earlier pods, 512 planned, 148 free, 8 on nodes that take no
// pods (1 node cordoned)".
std::string Sums(const MapInput& map, const Words& words) {
  std::int64_t planned = 0;
  const DomainUsage usage = MapUsage(map).In(fabric::kOutside, fabric::DomainIndex{0});
  for (const auto& [job, gpus] : usage.planned) planned = SaturatingAdd(planned, gpus);
  std::string text = Counted(map.fabric->node_count(), "node") + ", " +
                     Counted(usage.total, "GPU") + ": " + Grouped(usage.earlier) + " " +
                     words.held + ", " + Grouped(planned) + " " + words.planned + ", " +
                     Grouped(usage.free) + " free";
  const std::string off = OffText(CountIn(*map.claims, fabric::kOutside, fabric::DomainIndex{0}));
  if (!off.empty()) text += ", " + Grouped(usage.off) + " on nodes that take no pods (" + off + ")";
  return text;
}

std::string Section(const MapInput& map, const Words& words) {
  std::string out = "<section><h2>" + EscapeXml(map.title) + "</h2>\n<p>" + Sums(map, words);
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
  std::string page = std::string(kMapHead) + kPageColours + kCardStyle + kMapStyle;
  page += kPlanned;
  page += "<main>\n";
  if (!maps.empty()) page += Nowhere(maps.front());
  for (const MapInput& map : maps) page += Section(map, kOfPlan);
  return page + "</main>\n" + kScript + kCardScript + kScriptEnd;
}

std::string LiveMapHtml(const std::vector<const MapInput*>& maps, const std::string& when,
                        int seconds) {
  std::string page = std::string(kMapHead) + kPageColours + kCardStyle + kMapStyle;
  page += kLive;
  page += "<p class=\"bad lost\">The operator does not answer; this is the last picture.</p>\n";
  page += "<main>\n<p>As of <time>" + EscapeXml(when) + "</time></p>\n";
  if (maps.empty()) page += "<p class=\"bad\">No fabric: no node has an accelerator.</p>\n";
  if (!maps.empty()) page += Nowhere(*maps.front());
  for (const MapInput* map : maps) page += Section(*map, kOfCluster);
  std::string refresh = kRefresh;
  for (std::size_t at = 0; (at = refresh.find("SECONDS", at)) != std::string::npos;) {
    refresh.replace(at, 7, std::to_string(seconds));
  }
  return page + "</main>\n" + kScript + kCardScript + refresh + kScriptEnd;
}

}  // namespace weft::render
