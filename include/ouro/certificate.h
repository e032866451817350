// Certificates: verdicts that anybody can check.
//
// A certificate is a verdict together with its proof: an order of the transactions if the level
// holds, the operations and cycles that contradict the level if it is violated. certify() re-checks
// the proof against the raw history with code that shares nothing with the engines that decide
// levels. The file format is in docs/certificates.md.
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
#include <vector>

#include "ouro/check.h"
#include "ouro/history.h"
#include "ouro/result.h"

namespace ouro {

struct Certificate {
  Verdict verdict;               // Its counts and reason prove nothing and are not written.
  std::int64_t clock_drift = 0;  // CheckOptions::clock_drift of the check; must not be negative.
  // The history that the certificate is about: its number of transactions and of operations, and
  // its fingerprint().
  std::uint64_t txns = 0;
  std::uint64_t ops = 0;
  std::uint64_t fingerprint = 0;
};

// A hash of what `history` says: sessions, statuses, clocks, timestamps, operations, keys, values
// and version orders. The same history in another format has the same hash. Names of sessions,
// places and remarks do not count. Cost: linear.
[[nodiscard]] std::uint64_t fingerprint(const History& history);

// The counts and the fingerprint of a history that comes piece by piece, for make_certificate().
// Memory: one entry for each session and for each key that has an initial value of its own.
class HistoryIdentity {
 public:
  HistoryIdentity();
  HistoryIdentity(HistoryIdentity&&) noexcept;
  HistoryIdentity& operator=(HistoryIdentity&&) noexcept;
  ~HistoryIdentity();

  // Adds the next piece. REQUIRES: the pieces come in the order of the history, cut as
  // HistoryPieces cuts them. Cost: linear in the piece.
  void add(const History& piece);
  // The counts and the fingerprint of all pieces so far, taken as one history.
  [[nodiscard]] std::uint64_t txns() const;
  [[nodiscard]] std::uint64_t ops() const;
  [[nodiscard]] std::uint64_t fingerprint() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Makes the certificate of `verdict`, which check() gave for `history` with this clock drift.
// REQUIRES: check() ran without CheckOptions::outcomes_only, so that the verdict has its proof.
// Cost: linear in the history; with a HistoryIdentity, in its sessions and initial values.
[[nodiscard]] Certificate make_certificate(const History& history, Verdict verdict,
                                           std::int64_t clock_drift = 0);
[[nodiscard]] Certificate make_certificate(const HistoryIdentity& history, Verdict verdict,
                                           std::int64_t clock_drift = 0);

// Writes `certificate` to `path` ("-": standard output; .gz and .zst compress). The error is a file
// that cannot be written. REQUIRES: the verdict is not Undecided, as nothing proves that.
// Cost: linear in the certificate.
[[nodiscard]] Status write_certificate(const Certificate& certificate, const std::string& path);
// The same, into memory.
[[nodiscard]] std::string print_certificate(const Certificate& certificate);

// Reads a certificate from the file at `path`, or from memory; `name` stands in messages for the
// file. The error is a file that cannot be read, is no certificate or is cut off.
// Cost: linear in the certificate.
[[nodiscard]] Result<Certificate> read_certificate(const std::string& path);
[[nodiscard]] Result<Certificate> parse_certificate(std::string_view bytes,
                                                    std::string_view name = "certificate");

// A certificate of a history that was checked in segments (ouro/check_segments.h): a line about the
// whole, and for each segment one about its transactions and an ordinary certificate. It proves
// that a level holds. The parts come one by one, so it may be larger than memory.
struct SegmentsClaim {
  Level level = Level::StrictSerializable;  // Or strong-si.
  std::int64_t clock_drift = 0;
  std::uint64_t segments = 0;
  // The history.
  std::uint64_t txns = 0;
  std::uint64_t ops = 0;
  std::uint64_t fingerprint = 0;
};

// What one segment of such a certificate is about. Transactions are named by their places in the
// whole, from 0.
struct SegmentSection {
  std::uint64_t first = 0;  // The transactions [first, end), …
  std::uint64_t end = 0;
  std::vector<std::uint64_t> late;     // and these, which stand before them in the history,
  std::vector<std::uint64_t> without;  // but not these: they may take effect later.
  // Of these transactions, in the order of their places, as a history of their own.
  Certificate certificate;
};

// Writes such a certificate: begin(), then add() for each segment in order, then finish().
class SegmentsCertificateWriter {
 public:
  SegmentsCertificateWriter();
  ~SegmentsCertificateWriter();
  // Opens `path` as write_certificate() does.
  [[nodiscard]] Status begin(const std::string& path, const SegmentsClaim& claim);
  // Adds print_section() of the next segment.
  [[nodiscard]] Status add(std::string_view section);
  [[nodiscard]] Status finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};
[[nodiscard]] std::string print_section(const SegmentSection& section);

struct Certification {
  bool accepted = false;
  std::string reason;  // If rejected: the first thing that is wrong.
};

// Re-checks `certificate` against `history`. A certificate that proves nothing, or is about another
// history, is rejected with a reason; the error is a history that cannot be read unambiguously.
//
// Cost, for a history of n operations: expected linear in the history and the certificate, except
//   - an order at rc or ra: O(n^1.5); at causal or psi: O(n · sessions);
//   - a cycle at causal: one more pass over the history for each Forced edge;
//   - by timestamps: O(n log n) for each violation, and predicates are evaluated over all rows.
[[nodiscard]] Result<Certification> certify(const History& history, const Certificate& certificate);

struct SegmentsCertification : Certification {
  SegmentsClaim claim;
};

// Whether the file at `path` is a certificate of segments.
[[nodiscard]] Result<bool> is_of_segments(const std::string& path);
// Re-checks such a certificate against the history at `history`, which is read as
// HistoryPieces::open() does, in pieces of about `piece_bytes`. The error is a file that cannot be
// read. Cost: that of certify() for each segment; memory for one segment, and for each key and each
// transaction of unknown outcome that may still take effect.
[[nodiscard]] Result<SegmentsCertification> certify_segments(
    const std::string& history, const std::string& certificate,
    std::size_t piece_bytes = std::size_t{4} << 20);

}  // namespace ouro
