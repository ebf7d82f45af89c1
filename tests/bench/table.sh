#!/usr/bin/env bash
# Runs all built benchmarks, five repetitions each, and writes their medians beside the goals as a
# Markdown table to build/bench.md and standard output.
#
#   tests/bench/table.sh [FILTER]      FILTER: a regular expression of benchmark names
set -euo pipefail
cd "$(dirname "$0")/../.."

# Name of the benchmark and the most it may take, in milliseconds.
goals='
BM_Solve/1000/1024/2      1
BM_Solve/10000/1024/8     3
BM_Solve/100000/1024/8    10
BM_Solve/100000/16384/8   150
BM_ReadYaml/10000         5000
BM_ReadJson/10000         1000
BM_Scrape                 1000
'

filter=${1:-.}
results=build/bench
mkdir -p "$results"
rm -f "$results"/*.csv
for program in build/bin/*_bench; do
  [ -x "$program" ] || { echo 'no benchmarks in build/bin: is libbenchmark-dev there?' >&2; exit 1; }
  echo "running $(basename "$program")" >&2
  "$program" --benchmark_filter="$filter" --benchmark_repetitions=5 \
    --benchmark_report_aggregates_only=true --benchmark_format=csv \
    >"$results/$(basename "$program").csv"
done

# Aggregates are rows named NAME_mean, _median, _stddev, _cv. A file has a header of its own, with
# one column per counter after error_message.
{
  echo "Medians of five repetitions, one thread, on $(sed -n 's/^model name.*: //p;T;q' /proc/cpuinfo)."
  echo
  awk -F, -v goals="$goals" '
    function milliseconds(time, unit) {
      return time * (unit == "ns" ? 1e-6 : unit == "us" ? 1e-3 : unit == "s" ? 1e3 : 1)
    }
    function shown(ms) { return ms < 0.1 ? sprintf("%.2f us", ms * 1e3) : sprintf("%.3g ms", ms) }
    BEGIN {
      count = split(goals, words, /[ \n]+/)
      for (i = 1; i < count; ++i) if (words[i] ~ /^BM_/) goal[words[i]] = words[i + 1]
      print "| benchmark | median | goal | met | spread | counters |"
      print "| --- | --- | --- | --- | --- | --- |"
    }
    $1 == "name" {
      columns = NF
      for (i = 1; i <= NF; ++i) { gsub(/"/, "", $i); header[i] = $i }
      next
    }
    {
      name = $1
      gsub(/"/, "", name)
    }
    name ~ /_median$/ {
      sub(/_median$/, "", name)
      order[++rows] = name
      median[name] = milliseconds($3, $5)
      for (i = 11; i <= columns; ++i)
        if ($i != "") counters[name] = counters[name] sprintf("%s %.4g ", header[i], $i)
    }
    name ~ /_stddev$/ { sub(/_stddev$/, "", name); spread[name] = milliseconds($3, $5) }
    END {
      for (r = 1; r <= rows; ++r) {
        name = order[r]
        met = name in goal ? (median[name] <= goal[name] ? "yes" : "no") : ""
        wanted = name in goal ? goal[name] " ms" : ""
        printf "| %s | %s | %s | %s | %.0f %% | %s |\n", name, shown(median[name]), wanted, met,
               100 * spread[name] / median[name], counters[name]
      }
    }' "$results"/*.csv
} | tee build/bench.md
