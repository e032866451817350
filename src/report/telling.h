// The parts of a report that are about stories.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ouro/report.h"

namespace ouro {

// The explanation of `verdict` that the options bring along; one without stories if there is none.
[[nodiscard]] Explanation explanation_of(const Verdict& verdict, const ReportOptions& options);

// Explanations of the weakest levels violated, which explain the others, too.
[[nodiscard]] std::vector<Explanation> explanations_of_weakest(std::span<const Verdict> verdicts,
                                                               const ReportOptions& options);
// REQUIRES: one of the verdicts is about `level`.
[[nodiscard]] const Verdict& verdict_at(std::span<const Verdict> verdicts, Level level);

// "lost update, write skew": the stories' names, each once; without stories the kinds that were
// counted; for an undecided verdict the reason; "" for one that holds.
[[nodiscard]] std::string remark(const Verdict& verdict, const Explanation& explanation);

// "holds", "VIOLATED", "UNDECIDED", coloured if asked.
[[nodiscard]] std::string outcome_word(Outcome outcome, bool colour);
// "VIOLATED read-atomic (fractured read)"
[[nodiscard]] std::string judgement(const Verdict& verdict, const Explanation& explanation,
                                    bool colour);
// " by timestamps", if the verdict does not rest on what it usually does.
[[nodiscard]] std::string evidence_text(const Verdict& verdict);
// What decides a level that `evidence` does not; nothing if that does, or nothing can.
[[nodiscard]] std::optional<Evidence> other_evidence(Level level, Evidence evidence);
// The outcomes of all of them, weaker levels first, without what proves them; and what the stories
// say about levels that are undecided or not among them.
[[nodiscard]] std::vector<Verdict> known_levels(std::span<const Verdict> verdicts,
                                                std::span<const Verdict> others,
                                                std::span<const Explanation> explanations);
// Those of them that are undecided.
[[nodiscard]] std::vector<Level> undecided(std::span<const Verdict> verdicts);
// "si, causal"; "none".
[[nodiscard]] std::string level_list(std::span<const Level> levels);

// Whether both tell the same, maybe of different levels.
[[nodiscard]] bool is_same(const Story& a, const Story& b);
// Every story: who, why, which levels, what others call it. `told`: stories told before, which are
// not told again; they must stay where they are.
void append_stories(std::string& out, const History& history, const Verdict& verdict,
                    const Explanation& explanation, std::vector<const Story*>& told);

// "2 transactions, 1 key, 0.4 ms"
void append_closing(std::string& out, const History& history, const ReportOptions& options);

// What there is to count, as a label and a text each. Labels of details begin with blanks.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>> stats_lines(
    const History& history, const Stats& stats);

// "lost-update": where docs/anomalies.md has the paragraph on it.
[[nodiscard]] std::string anchor(std::string_view name);

}  // namespace ouro
