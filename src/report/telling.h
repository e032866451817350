// Parts that reports of several forms share: explanations, outcomes, stories as text, counts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ouro/report.h"

namespace ouro {

// The explanation of `verdict` among options.explanations; one without stories if there is none.
[[nodiscard]] Explanation explanation_of(const Verdict& verdict, const ReportOptions& options);

// Explanations of the weakest levels violated. They explain the stronger ones, too.
[[nodiscard]] std::vector<Explanation> explanations_of_weakest(std::span<const Verdict> verdicts,
                                                               const ReportOptions& options);
// REQUIRES: one of the verdicts is about `level`.
[[nodiscard]] const Verdict& verdict_at(std::span<const Verdict> verdicts, Level level);

// "lost update, write skew": the stories' names, each once; without stories the kinds that were
// counted; for an undecided verdict the reason; for one that holds what it leaves out.
[[nodiscard]] std::string remark(const Verdict& verdict, const Explanation& explanation);

// "holds", "VIOLATED", "UNDECIDED", coloured if asked.
[[nodiscard]] std::string outcome_word(Outcome outcome, bool colour);
// "VIOLATED read-atomic", "holds causal", "holds gsi as far as was checked".
[[nodiscard]] std::string plain_judgement(const Verdict& verdict, bool colour);
// The same with a remark(), if there is any: "VIOLATED read-atomic (fractured read)".
[[nodiscard]] std::string judgement(const Verdict& verdict, const Explanation& explanation,
                                    bool colour);
// " by timestamps", " by versions"; "" for a verdict by observation, which is the usual.
[[nodiscard]] std::string evidence_text(const Verdict& verdict);
// Evidence that decides a level which `evidence` does not decide; nothing if `evidence` does, or if
// no evidence does.
[[nodiscard]] std::optional<Evidence> other_evidence(Level level, Evidence evidence);
// The outcomes of `verdicts` and `others`, weaker levels first, without their proofs; and what
// stories prove about levels that are undecided or not among these.
[[nodiscard]] std::vector<Verdict> known_levels(std::span<const Verdict> verdicts,
                                                std::span<const Verdict> others,
                                                std::span<const Explanation> explanations);
// `verdicts`, with the outcomes that known_levels() finds in place of those that are undecided, so
// that no report contradicts its stories. Decided verdicts keep their proofs.
[[nodiscard]] std::vector<Verdict> settled(std::span<const Verdict> verdicts,
                                           std::span<const Explanation> explanations);
// "si, session-si (time limit of 3 s reached)": the levels of the verdicts that are undecided, in a
// text for each reason.
[[nodiscard]] std::vector<std::string> undecided_by_reason(std::span<const Verdict> verdicts);
// The levels of the verdicts that are undecided.
[[nodiscard]] std::vector<Level> undecided(std::span<const Verdict> verdicts);
// "si, causal"; "none".
[[nodiscard]] std::string level_list(std::span<const Level> levels);

// What verdicts that hold leave out, each kind once.
[[nodiscard]] std::vector<LeftOut> left_out_of(std::span<const Verdict> verdicts);

// Whether both stories are the same, maybe told for different levels.
[[nodiscard]] bool is_same(const Story& a, const Story& b);
// Appends every story: its transactions, its sentences, the levels it violates, its other names.
// Stories in `told` are left out; those appended are added to it, as pointers into `explanation`.
void append_stories(std::string& out, const History& history, const Verdict& verdict,
                    const Explanation& explanation, std::vector<const Story*>& told);

// "2 transactions, 1 key, 0.4 ms"
void append_closing(std::string& out, const History& history, const ReportOptions& options);

// The numbers of a history as lines, each a label and a text. Labels of details begin with blanks.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>> stats_lines(
    const History& history, const Stats& stats);

// "lost-update" for "lost update": the anchor of the anomaly in docs/anomalies.md.
[[nodiscard]] std::string anchor(std::string_view name);

}  // namespace ouro
