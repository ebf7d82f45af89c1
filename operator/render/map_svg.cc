#include "operator/render/map_svg.h"

#include <algorithm>
#include <array>
#include <map>

#include "operator/render/table.h"
#include "operator/render/text_format.h"

namespace weft::render {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

constexpr int kCell = 20;    // a node's square, pixels
constexpr int kGap = 3;      // between cells
constexpr int kPad = 8;      // inside a box
constexpr int kTitle = 26;   // a box's name and its uplink bar
constexpr int kWide = 1320;  // rows of boxes wrap here
constexpr int kLegendLine = 20;
// Okabe and Ito's colours that stand out on grey, then Tol's muted ones ("Colour schemes", 2021).
constexpr std::array<const char*, 16> kColours = {
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#882255", "#999933",
    "#332288", "#44aa99", "#aa4499", "#ddcc77", "#117733", "#cc6677", "#88ccee", "#661100"};

struct Box {
  int width = 0, height = 0;
};

std::string Number(int value) { return std::to_string(value); }

std::string Rect(int x, int y, int width, int height, const std::string& more) {
  return "<rect x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" width=\"" + Number(width) +
         "\" height=\"" + Number(height) + "\" " + more;
}

std::string Text(int x, int y, const std::string& more, const std::string& text) {
  return "<text x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" " + more + ">" + EscapeXml(text) +
         "</text>\n";
}

class Picture {
 public:
  explicit Picture(const MapInput& map) : map_(map), fabric_(*map.fabric) {
    folded_ = fabric_.node_count() > kMostNodeCells;
    for (std::size_t j = 0; j < map.jobs.size(); ++j) {
      for (std::size_t w = 0; w < map.jobs[j].nodes.size(); ++w) {
        workers_[map.jobs[j].nodes[w]].push_back({j, w});
      }
    }
    for (Tier t = 1; t < fabric_.node_tier(); ++t) {
      for (Int128 bytes : map.leaving[t]) most_ = std::max(most_, bytes);
    }
  }

  std::string Show() {
    const int legend =
        kPad * 2 + kLegendLine * static_cast<int>(map_.jobs.size() + map_.refused.size() + 2);
    std::string body;
    const Box box = Draw(fabric::kOutside, 0, kPad, kPad, body);
    const int width = std::max(box.width + 2 * kPad, 720);
    const int height = box.height + 2 * kPad + legend;
    std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + Number(width) +
                      " " + Number(height) + "\" width=\"" + Number(width) + "\" height=\"" +
                      Number(height) + "\" font-family=\"system-ui,sans-serif\">\n";
    svg +=
        "<style>.b{fill:var(--weft-box,#fff);stroke:var(--weft-line,#c3c9d1)}"
        ".t{fill:var(--weft-ink,#1d2733);font-size:11px}"
        ".s{fill:var(--weft-dim,#66717e);font-size:10px}"
        ".f{fill:var(--weft-free,#eef1f4)}.u{fill:var(--weft-used,#a9b1bb)}"
        ".x{fill:var(--weft-off,#f3c9c4)}.w{fill:var(--weft-bar,#8a96a3)}</style>\n";
    svg += Rect(0, 0, width, height, "fill=\"var(--weft-page,#f8f9fb)\"/>\n");
    return svg + body + Legend(box.height + 2 * kPad + kLegendLine) + "</svg>\n";
  }

 private:
  struct Seat {
    std::size_t job, worker;
  };
  struct Count {
    std::int64_t total = 0, used = 0;
    std::map<std::size_t, std::int64_t> by_job;
  };

  bool IsCell(Tier tier) const {
    return tier == fabric_.node_tier() || (folded_ && tier + 1 == fabric_.node_tier());
  }

  std::string Name(Tier tier, DomainIndex domain) const {
    if (tier == fabric::kOutside) return map_.title;
    return tier == fabric_.node_tier() ? fabric_.node(domain).name
                                       : fabric_.domains(tier).names[domain];
  }

  Count CountIn(Tier tier, DomainIndex domain) const {
    const auto& begin = fabric_.domains(tier).begin;
    Count count;
    for (NodeIndex n = begin[domain]; n < begin[domain + 1]; ++n) {
      count.total += fabric_.accelerators(n);
      count.used += std::min(fabric_.accelerators(n), map_.claims->used_accelerators(n));
      const auto seats = workers_.find(n);
      if (seats == workers_.end()) continue;
      for (const Seat& seat : seats->second) {
        count.by_job[seat.job] += map_.jobs[seat.job].gpus_per_worker;
      }
    }
    return count;
  }

  // Earlier pods from the bottom, then the plan's jobs, the free rest on top.
  void Cell(Tier tier, DomainIndex domain, int x, int y, std::string& out) const {
    const Count count = CountIn(tier, domain);
    std::string title = Name(tier, domain) + ": ";
    std::int64_t free = count.total - count.used;
    const bool off = tier == fabric_.node_tier() && !fabric_.usable(domain);
    out +=
        "<g>" + Rect(x, y, kCell, kCell, off ? "rx=\"3\" class=\"x\"/>" : "rx=\"3\" class=\"f\"/>");
    int bottom = y + kCell;
    const auto fill = [&](std::int64_t gpus, const std::string& paint) {
      if (gpus <= 0 || count.total <= 0) return;
      const int part = std::max(1, static_cast<int>(gpus * kCell / count.total));
      bottom = std::max(y, bottom - part);
      out += Rect(x, bottom, kCell, part, "rx=\"2\" " + paint + "/>");
    };
    fill(count.used, "class=\"u\"");
    for (const auto& [job, gpus] : count.by_job) {
      fill(gpus, "fill=\"" + JobColour(job) + "\" data-job=\"" + std::to_string(job) + "\"");
      title += map_.jobs[job].name + " " + std::to_string(gpus) + " GPUs" +
               Workers(tier, domain, job) + ", ";
      free -= gpus;
    }
    title += std::to_string(count.used) + " used by earlier pods, " +
             std::to_string(std::max<std::int64_t>(0, free)) + " of " +
             std::to_string(count.total) + " free";
    if (off) title += "; unusable: " + fabric_.unusable_why(domain);
    out += "<title>" + EscapeXml(title) + "</title></g>\n";
  }

  std::string Workers(Tier tier, DomainIndex domain, std::size_t job) const {
    if (tier != fabric_.node_tier()) return "";
    std::string text;
    for (const Seat& seat : workers_.at(domain)) {
      if (seat.job == job)
        text += (text.empty() ? " (worker " : ", ") + std::to_string(seat.worker);
    }
    return text.empty() ? "" : text + ")";
  }

  // Draws one domain at (x, y) and returns its size.
  Box Draw(Tier tier, DomainIndex domain, int x, int y, std::string& out) const {
    std::string inner;
    const auto& begin = fabric_.domains(tier).child_begin;
    const int title_width =
        12 + 7 * static_cast<int>(std::min<std::size_t>(Name(tier, domain).size(), 24));
    int at_x = x + kPad, at_y = y + kTitle + kPad, row = 0, right = x + title_width + 70;
    const bool cells = IsCell(tier + 1);
    const int limit = cells ? x + CellsWide(begin[domain + 1] - begin[domain]) : kWide;
    for (DomainIndex c = begin[domain]; c < begin[domain + 1]; ++c) {
      Box box{kCell, kCell};
      std::string piece;
      if (!cells) box = Draw(tier + 1, c, at_x, at_y, piece);
      if (at_x + box.width > limit && at_x > x + kPad) {
        at_x = x + kPad;
        at_y += row + (cells ? kGap : kPad);
        row = 0;
        piece.clear();
        if (!cells) box = Draw(tier + 1, c, at_x, at_y, piece);
      }
      if (cells) Cell(tier + 1, c, at_x, at_y, piece);
      inner += piece;
      right = std::max(right, at_x + box.width);
      at_x += box.width + (cells ? kGap : kPad);
      row = std::max(row, box.height);
    }
    const Box box{right + kPad - x, at_y + row + kPad - y};
    out += Rect(x, y, box.width, box.height, "rx=\"6\" class=\"b\"/>\n");
    Title(tier, domain, {x, y}, box.width, out);
    out += inner;
    return box;
  }

  // Sixteen nodes a row, or as square as it gets for large domains.
  static int CellsWide(DomainIndex cells) {
    int columns = 8;
    while (columns * columns < static_cast<int>(cells) * 2 && columns < 40) columns += 4;
    return kPad + columns * (kCell + kGap);
  }

  void Title(Tier tier, DomainIndex domain, std::pair<int, int> at, int width,
             std::string& out) const {
    const auto [x, y] = at;
    const Count count = CountIn(tier, domain);
    std::int64_t planned = 0;
    for (const auto& [job, gpus] : count.by_job) planned += gpus;
    std::string name = Name(tier, domain);
    if (name.size() > 26) name = name.substr(0, 25) + "\u2026";
    out += Text(x + kPad, y + 15, "class=\"t\" font-weight=\"600\"", name);
    out += Text(x + width - kPad, y + 15, "class=\"s\" text-anchor=\"end\"",
                Grouped(count.total - count.used - planned) + " free / " + Grouped(count.total));
    if (tier == fabric::kOutside || most_ == 0) return;
    const Int128 bytes = map_.leaving[tier][domain];
    const int bar = static_cast<int>(bytes * (width - 2 * kPad) / most_);
    out += "<g>" + Rect(x + kPad, y + 20, width - 2 * kPad, 4, "class=\"f\"/>") +
           Rect(x + kPad, y + 20, std::max(bar, bytes > 0 ? 2 : 0), 4, "class=\"w\"/>") +
           "<title>" +
           EscapeXml(Name(tier, domain) + ": " + BytesText(bytes) + " leave this " +
                     fabric_.tiers()[tier].name + " per step") +
           "</title></g>\n";
  }

  std::string Legend(int y) const {
    std::string out;
    const auto key = [&](const std::string& paint, const std::string& text,
                         const std::string& more) {
      out += "<g" + more + ">" + Rect(kPad, y - 11, 14, 14, "rx=\"3\" " + paint + "/>") +
             Text(kPad + 22, y, "class=\"t\"", text) + "</g>\n";
      y += kLegendLine;
    };
    for (std::size_t j = 0; j < map_.jobs.size(); ++j) {
      const MapJob& job = map_.jobs[j];
      key("fill=\"" + JobColour(j) + "\"",
          job.name + ": " + Counted(static_cast<std::int64_t>(job.nodes.size()), "worker") +
              " on " + job.spans + "; " + job.cross_node + " cross nodes a step",
          " data-key=\"" + std::to_string(j) + "\"");
    }
    for (const MapRefusal& refusal : map_.refused) {
      key("fill=\"none\" stroke=\"#c0392b\"",
          refusal.name + ": not placed (" + refusal.reason + ")", "");
    }
    key("class=\"u\"", "GPUs of earlier pods", "");
    key("class=\"w\"",
        "bar under a name: bytes that leave the domain each step, longest = " + BytesText(most_),
        "");
    return out;
  }

  const MapInput& map_;
  const fabric::Fabric& fabric_;
  bool folded_ = false;
  Int128 most_ = 0;
  std::map<NodeIndex, std::vector<Seat>> workers_;
};

}  // namespace

std::string JobColour(std::size_t index) { return kColours[index % kColours.size()]; }

std::string MapSvg(const MapInput& map) { return Picture(map).Show(); }

}  // namespace weft::render
