// Checks and what they found.

#include <fmt/format.h>

#include "c/handles.h"
#include "ouro/asked_levels.h"
#include "ouro/certificate.h"
#include "ouro/forms.h"
#include "ouro/report.h"

namespace ouro::c {
namespace {

// The levels to check; an error if the options ask for one that cannot be decided.
Result<AskedLevels> levels_for(const History& history, const ouro_options& options) {
  const Evidence evidence = options.check.evidence;
  if (!options.levels.empty()) return parse_levels(options.levels, evidence);
  std::string names;
  for (const auto& [level, outcome] : options.expectation.levels) {
    names += fmt::format("{}{}", names.empty() ? "" : ",", info(level).name);
  }
  if (!names.empty()) return parse_levels(names, evidence);
  return AskedLevels{.levels = {usual_level(history, evidence)}, .unsupported = {}};
}

ouro_verdict* check(const ouro_history& history, const ouro_options& options, ouro_error** error) {
  auto asked = levels_for(history.history, options);
  if (!asked.ok()) {
    tell(error, OURO_ERROR_INPUT, asked.error());
    return nullptr;
  }
  ExamineOptions how;
  how.levels = asked->levels;
  how.check = options.check;
  how.check.cancelled = &options.cancelled;
  how.examples = options.examples;
  how.explain = options.explain;
  how.expectation = options.expectation;
  const std::string& name = options.title.empty() ? history.name : options.title;
  auto examined = examine(history.history, how);
  if (!examined.ok()) {
    Error wrong = examined.error();
    if (wrong.file.empty()) wrong.file = name;
    tell(error, OURO_ERROR_INPUT, std::move(wrong));
    return nullptr;
  }
  return new ouro_verdict{history.history,      *std::move(examined),     asked->unsupported, name,
                          history.load_seconds, options.check.clock_drift};
}

ReportOptions report_options(const ouro_verdict& verdict) {
  ReportOptions out;
  out.name = verdict.name;
  out.unsupported = verdict.unsupported;
  out.load_seconds = verdict.load_seconds;
  return out;
}

std::string html(const ouro_verdict& verdict) {
  const Examination& found = verdict.examination;
  HtmlReport report;
  report.add({.name = verdict.name,
              .history = &verdict.history,
              .verdicts = found.verdicts,
              .explanations = found.explanations,
              .seconds = verdict.load_seconds.value_or(0) + found.check_seconds,
              .others = found.others,
              .met = found.met ? &*found.met : nullptr});
  return report.finish();
}

int number_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Holds:
      return OURO_HOLDS;
    case Outcome::Violated:
      return OURO_VIOLATED;
    default:
      return OURO_UNDECIDED;
  }
}

const Verdict* level_of(const ouro_verdict* verdict, std::size_t number) {
  if (verdict == nullptr || number >= verdict->examination.verdicts.size()) return nullptr;
  return &verdict->examination.verdicts[number];
}

// What `tell_it` makes of a verdict, as a text for the caller.
template <class Tell>
char* told(const ouro_verdict* verdict, ouro_error** error, const Tell& tell_it) {
  if (verdict == nullptr) return nullptr;
  return guarded(error, static_cast<char*>(nullptr), [&] { return copy_of(tell_it(*verdict)); });
}

const Story* first_story(const Examination& found) {
  for (const Explanation& explanation : found.explanations) {
    if (!explanation.stories.empty()) return &explanation.stories.front();
  }
  return nullptr;
}

}  // namespace
}  // namespace ouro::c

extern "C" {

ouro_verdict* ouro_check(const ouro_history* history, const ouro_options* options,
                         ouro_error** error) {
  if (history == nullptr) return nullptr;
  return ouro::c::guarded(error, static_cast<ouro_verdict*>(nullptr), [&] {
    return ouro::c::check(*history, ouro::c::or_defaults(options), error);
  });
}

void ouro_verdict_free(ouro_verdict* verdict) { delete verdict; }

int ouro_verdict_outcome(const ouro_verdict* verdict) {
  return verdict == nullptr ? -1 : ouro::c::number_of(ouro::outcome(verdict->examination));
}

size_t ouro_verdict_levels(const ouro_verdict* verdict) {
  return verdict == nullptr ? 0 : verdict->examination.verdicts.size();
}

const char* ouro_verdict_level(const ouro_verdict* verdict, size_t number) {
  const ouro::Verdict* one = ouro::c::level_of(verdict, number);
  // Names of levels are literals, which end with a zero byte.
  return one == nullptr ? nullptr : ouro::info(one->level).name.data();
}

int ouro_verdict_level_outcome(const ouro_verdict* verdict, size_t number) {
  const ouro::Verdict* one = ouro::c::level_of(verdict, number);
  return one == nullptr ? -1 : ouro::c::number_of(one->outcome);
}

char* ouro_verdict_headline(const ouro_verdict* verdict, ouro_error** error) {
  return ouro::c::told(verdict, error, [](const ouro_verdict& v) {
    return ouro::headline(v.history, v.examination, ouro::c::report_options(v));
  });
}

char* ouro_verdict_text(const ouro_verdict* verdict, ouro_error** error) {
  return ouro::c::told(verdict, error, [](const ouro_verdict& v) {
    return ouro::describe(v.history, v.examination, ouro::c::report_options(v));
  });
}

char* ouro_verdict_json(const ouro_verdict* verdict, ouro_error** error) {
  return ouro::c::told(verdict, error, [](const ouro_verdict& v) {
    return ouro::to_json(v.history, v.examination, ouro::c::report_options(v));
  });
}

char* ouro_verdict_html(const ouro_verdict* verdict, ouro_error** error) {
  return ouro::c::told(verdict, error, ouro::c::html);
}

ouro_history* ouro_verdict_counterexample(const ouro_verdict* verdict, ouro_error** error) {
  if (verdict == nullptr) return nullptr;
  return ouro::c::guarded(error, static_cast<ouro_history*>(nullptr), [&]() -> ouro_history* {
    const ouro::Story* story = ouro::c::first_story(verdict->examination);
    if (story == nullptr) return nullptr;
    ouro::ExplainOptions how;
    how.clock_drift = verdict->clock_drift;
    return new ouro_history{ouro::counterexample(verdict->history, *story, how), verdict->name, {}};
  });
}

char* ouro_verdict_certificate(const ouro_verdict* verdict, size_t number, size_t* length,
                               ouro_error** error) {
  if (verdict == nullptr) return nullptr;
  return ouro::c::guarded(error, static_cast<char*>(nullptr), [&]() -> char* {
    const ouro::Verdict* one = ouro::c::level_of(verdict, number);
    if (one == nullptr || one->outcome == ouro::Outcome::Undecided) {
      ouro::c::tell(error, OURO_ERROR_INPUT,
                    ouro::c::error_saying(
                        one == nullptr ? fmt::format("the verdict has no level number {}", number)
                                       : "an undecided level has no certificate"));
      return nullptr;
    }
    const std::string text = ouro::print_certificate(
        ouro::make_certificate(verdict->history, *one, verdict->clock_drift));
    char* copy = ouro::c::copy_of(text);
    if (length != nullptr) *length = text.size();
    return copy;
  });
}

int ouro_certify(const ouro_history* history, const void* certificate, size_t length, char** reason,
                 ouro_error** error) {
  if (history == nullptr || certificate == nullptr) return -1;
  return ouro::c::guarded(error, -1, [&] {
    const std::string_view bytes(static_cast<const char*>(certificate), length);
    const auto parsed = ouro::parse_certificate(bytes);
    if (!parsed.ok()) {
      ouro::c::tell(error, OURO_ERROR_INPUT, parsed.error());
      return -1;
    }
    const auto checked = ouro::certify(history->history, *parsed);
    if (!checked.ok()) {
      ouro::c::tell(error, OURO_ERROR_INPUT, checked.error());
      return -1;
    }
    if (!checked->accepted && reason != nullptr) {
      *reason = ouro::c::copy_of(checked->reason);
    }
    return checked->accepted ? 1 : 0;
  });
}
}
