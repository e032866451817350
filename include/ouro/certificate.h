// Certificates: verdicts that anybody can check.
//
// A certificate is a verdict with all it takes to believe it: for one that holds an order of the
// transactions, for a violation the operations and cycles that prove it. certify() re-checks it
// against the raw history with code that shares nothing with the engines that decide levels. The
// file format is in docs/certificates.md.
//
// Example (built and run as tests/example_certificate.cc):
//
//   const auto history = ouro::read_history("tests/data/demo/lost_update.jsonl");
//   if (!history.ok()) return fail(history.error());
//   const auto verdict = ouro::check(*history, ouro::Level::Si);
//   if (!verdict.ok()) return fail(verdict.error());
//   const auto certificate = ouro::make_certificate(*history, *verdict);
//   const auto checked = ouro::certify(*history, certificate);
//   if (!checked.ok()) return fail(checked.error());
//   std::cout << (checked->accepted ? "accepted\n" : checked->reason + "\n");
//
// Thread safety: calls share no state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/result.h"

namespace ouro {

struct Certificate {
  Verdict verdict;  // Without counts and reason, which prove nothing.
  std::int64_t clock_drift = 0;
  std::uint64_t txns = 0;  // Of the history it is about.
  std::uint64_t ops = 0;
  std::uint64_t fingerprint = 0;
};

// A number that differs, but for bad luck, where two histories do: sessions, statuses, clocks,
// timestamps, operations, keys, values, version orders. Linear.
[[nodiscard]] std::uint64_t fingerprint(const History& history);

// What a certificate says of the history that it is about, if that comes piece by piece. Remembers
// sessions and the keys that have an initial value of their own, nothing else.
class HistoryIdentity {
 public:
  HistoryIdentity();
  HistoryIdentity(HistoryIdentity&&) noexcept;
  HistoryIdentity& operator=(HistoryIdentity&&) noexcept;
  ~HistoryIdentity();

  // The pieces in order, as HistoryPieces gives them.
  void add(const History& piece);
  [[nodiscard]] std::uint64_t txns() const;
  [[nodiscard]] std::uint64_t ops() const;
  [[nodiscard]] std::uint64_t fingerprint() const;  // Of all pieces as one history.

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The certificate of what check() said with `clock_drift`.
[[nodiscard]] Certificate make_certificate(const History& history, Verdict verdict,
                                           std::int64_t clock_drift = 0);
[[nodiscard]] Certificate make_certificate(const HistoryIdentity& history, Verdict verdict,
                                           std::int64_t clock_drift = 0);

// Writes `path` ("-": standard output; .gz and .zst compress).
// REQUIRES: the verdict is not Undecided, which nothing proves.
[[nodiscard]] Status write_certificate(const Certificate& certificate, const std::string& path);
// The same, into memory.
[[nodiscard]] std::string print_certificate(const Certificate& certificate);

// The errors are files that cannot be read, are no certificates or are cut off.
[[nodiscard]] Result<Certificate> read_certificate(const std::string& path);
[[nodiscard]] Result<Certificate> parse_certificate(std::string_view bytes,
                                                    std::string_view name = "certificate");

struct Certification {
  bool accepted = false;
  std::string reason;  // Rejected: the first thing that is wrong.
};

// Re-checks `certificate`. The error is a history that cannot be read unambiguously.
//
// Cost: expected linear in the history and the certificate, but for the orders of rc and ra,
// O(n^1.5), and of causal and psi, O(n · sessions); and, at causal, for one pass over the history
// for each forced edge of a cycle. By timestamps: linear for an order but for predicates, which are
// evaluated over all rows; O(n log n) for each violation.
[[nodiscard]] Result<Certification> certify(const History& history, const Certificate& certificate);

}  // namespace ouro
