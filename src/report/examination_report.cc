// Reports of examinations: those of their verdicts, with the examination's explanations and all
// else that it found as options.

#include "ouro/report.h"

namespace ouro {
namespace {

ReportOptions with(const Examination& examination, ReportOptions options) {
  options.explanations = examination.explanations;
  options.others = examination.others;
  options.observed = examination.observed;
  options.effort = &examination.effort;
  if (examination.check_seconds > 0) options.check_seconds = examination.check_seconds;
  return options;
}

}  // namespace

std::string headline(const History& history, const Examination& examination,
                     const ReportOptions& options) {
  const auto& verdicts = examination.verdicts;
  const ReportOptions all = with(examination, options);
  return verdicts.size() == 1 ? headline(history, verdicts.front(), all)
                              : headline(history, verdicts, all);
}

std::string describe(const History& history, const Examination& examination,
                     const ReportOptions& options) {
  const auto& verdicts = examination.verdicts;
  const ReportOptions all = with(examination, options);
  return verdicts.size() == 1 ? describe(history, verdicts.front(), all)
                              : describe(history, verdicts, all);
}

std::string to_json(const History& history, const Examination& examination,
                    const ReportOptions& options) {
  const auto& verdicts = examination.verdicts;
  const ReportOptions all = with(examination, options);
  return verdicts.size() == 1 ? to_json(history, verdicts.front(), all)
                              : to_json(history, verdicts, all);
}

}  // namespace ouro
