#pragma once

namespace weft::outlook {

// How often nodes fail and spot nodes are taken away, and what that costs. Assumptions; published
// rates of failures lie between 2.3 and 6.5 in 1,000 node-days.
struct FailureRates {
  // Source  Llama Team, "The Llama 3 Herd of Models", 2024, section 3.3.4: 419 unexpected
  //         interruptions of 2,048 nodes in 54 days.
  double per_1000_node_days = 3.79;
  double checkpoint_seconds = 60;  // for which one checkpoint stops the training
  double restart_seconds = 600;    // until a failed job trains again, with the wait for a node
  // How often the cloud takes a spot node away.
  // Source  Google Cloud, "Preemptible VM instances", 2020: on average 5 to 15 % of the instances
  //         of a project a day. Other clouds, accelerators and years differ much.
  double interruptions_per_1000_node_days = 100;
};

// How long a failed node is away. Assumption: the swap of a compute tray takes one to four hours.
inline constexpr double kRepairSeconds = 4 * 3600;

struct Reliability {
  double hours_between_failures = 0;
  double checkpoint_interval_seconds = 0;  // that loses least
  double effective_share = 1;              // share of the time that trains and is not lost
};

// The reliability of a job on that many nodes, some of which are spot nodes, which are also
// interrupted; R: seconds of a restart, d: seconds of a checkpoint.
//
//   M    1 / (nodes x rate of failures + spot nodes x rate of interruptions)
//   tau  sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + d / 18M) - d, or M where d >= 2M
//   share 1 / ((1 + d / tau) (1 + (R + (tau + d) / 2) / M))
//
// Source  Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps",
//         2006; its first term is Young, 1974. The share: a renewal argument, within 0.4 points of
//         a simulation.
Reliability ReliabilityOf(double nodes, const FailureRates& rates = {}, double spot_nodes = 0);
// The same for a job with so many failures in 1,000 days, of whatever it runs on; with none, the
// interval is infinite.
Reliability ReliabilityAt(double failures_per_1000_days, const FailureRates& rates = {});
// The share above, for an interval that somebody chose.
double EffectiveShare(double hours_between_failures, double checkpoint_interval_seconds,
                      const FailureRates& rates = {});

}  // namespace weft::outlook
