// What `ouro hermitage` prints: the table as text and as Markdown, all as JSON, the steps.

#include <fmt/format.h>

#include <algorithm>

#include "history/json_text.h"
#include "ouro/hermitage.h"

namespace ouro {
namespace {

// How many columns of a terminal `text` takes; all characters here are one column wide.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  out.append(width - std::min(width, width_of(text)), ' ');
  return out;
}

std::string mark_of(const HermitageCell& cell) {
  switch (cell.outcome) {
    case HermitageOutcome::Prevented:
      return fmt::format("✓{}{}", cell.waited ? "w" : "", cell.refused ? "a" : "");
    case HermitageOutcome::Occurs:
      return fmt::format("—{}{}", cell.waited ? "w" : "", cell.refused ? "a" : "");
    case HermitageOutcome::Impossible:
      return "·";
    case HermitageOutcome::Unclear:
      break;
  }
  return "?";
}

std::string label_of(const HermitageRow& row) {
  return row.isolation.empty() ? row.database : row.isolation;
}

bool any_cell(const HermitageReport& report, bool (*test)(const HermitageCell&)) {
  return std::any_of(report.rows.begin(), report.rows.end(), [&](const HermitageRow& row) {
    return std::any_of(row.cells.begin(), row.cells.end(), test);
  });
}

// The columns of the table that people know, or those of the other forms.
std::vector<std::size_t> columns_of(const HermitageReport& report, bool classic) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < report.tests.size(); ++i) {
    if (report.tests[i].classic == classic) columns.push_back(i);
  }
  return columns;
}

std::string trimmed(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string text_table(const HermitageReport& report, bool classic) {
  const std::vector<std::size_t> columns = columns_of(report, classic);
  if (columns.empty()) return {};
  std::size_t first = 0;
  for (const HermitageRow& row : report.rows) first = std::max(first, width_of(label_of(row)));
  const auto width = [&](std::size_t i) {
    return std::max<std::size_t>(report.tests[i].name.size(), 3) + 2;
  };
  std::string line = "  " + padded("", first + 2);
  for (const std::size_t i : columns) line += padded(report.tests[i].name, width(i));
  std::string out = "\n" + trimmed(line);
  for (const HermitageRow& row : report.rows) {
    line = "  " + padded(label_of(row), first + 2);
    for (const std::size_t i : columns) line += padded(mark_of(row.cells[i]), width(i));
    out += trimmed(line);
  }
  return out;
}

// "si: broken by P4 (lost update), G2 (phantom)".
std::string promise_of(const HermitageReport& report, const HermitageRow& row) {
  std::string out(info(row.claims).name);
  if (!row.broken()) return out + ": kept";
  std::string_view before = ": broken by ";
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const HermitageCell& cell = row.cells[i];
    if (!cell.broken) continue;
    out += fmt::format("{}{}{}", before, report.tests[i].name,
                       cell.breach.empty() ? "" : fmt::format(" ({})", cell.breach));
    before = ", ";
  }
  return out;
}

std::string legend(const HermitageReport& report) {
  std::string out = "\n  ✓ prevented   — occurs";
  if (any_cell(report,
               [](const auto& cell) { return cell.outcome == HermitageOutcome::Impossible; })) {
    out += "   · the driver has no such operations";
  }
  if (any_cell(report,
               [](const auto& cell) { return cell.outcome == HermitageOutcome::Unclear; })) {
    out += "   ? unclear";
  }
  if (any_cell(report, [](const auto& cell) { return cell.waited; })) out += "   w a step waited";
  if (any_cell(report, [](const auto& cell) { return cell.refused; })) {
    out += "   a a transaction was aborted";
  }
  return out + "\n";
}

// The names of the databases, each once.
std::string databases_of(const HermitageReport& report) {
  std::string out;
  std::string_view last;
  for (const HermitageRow& row : report.rows) {
    if (row.database != last) out += (out.empty() ? "" : ", ") + row.database;
    last = row.database;
  }
  return out;
}

std::string strings(const std::vector<Level>& levels) {
  std::string out = "[";
  for (const Level level : levels) {
    out += fmt::format("{}\"{}\"", out.size() > 1 ? "," : "", info(level).name);
  }
  return out + "]";
}

// `"name":"text",`, escaped.
void put(std::string& out, std::string_view name, std::string_view text) {
  out += fmt::format("\"{}\":", name);
  append_json_string(out, text);
  out += ',';
}

void put_cell(std::string& out, const HermitageTest& test, const HermitageCell& cell) {
  out += '{';
  put(out, "test", test.name);
  put(out, "outcome", name(cell.outcome));
  put(out, "level", info(test.level).name);
  out += fmt::format("\"waited\":{},\"aborted\":{},\"broken\":{},\"gave\":{},", cell.waited,
                     cell.refused, cell.broken, strings(cell.gave));
  if (!cell.anomaly.empty()) put(out, "anomaly", cell.anomaly);
  if (!cell.breach.empty()) put(out, "breach", cell.breach);
  if (!cell.reason.empty()) put(out, "reason", cell.reason);
  out += "\"steps\":[";
  for (const HermitageStep& step : cell.steps) {
    out += '{';
    put(out, "client", step.client);
    put(out, "step", step.what);
    put(out, "answer", step.answer);
    out += fmt::format("\"waited\":{},\"refused\":{}}},", step.waited, step.refused);
  }
  if (out.back() == ',') out.pop_back();
  out += "]}";
}

}  // namespace

std::string_view name(HermitageOutcome outcome) {
  switch (outcome) {
    case HermitageOutcome::Prevented:
      return "prevented";
    case HermitageOutcome::Occurs:
      return "occurs";
    case HermitageOutcome::Impossible:
      return "impossible";
    case HermitageOutcome::Unclear:
      break;
  }
  return "unclear";
}

std::string describe(const HermitageReport& report) {
  std::string out = databases_of(report) + "\n";
  out += text_table(report, true) + text_table(report, false) + legend(report) + "\n";
  for (const HermitageRow& row : report.rows) {
    out += fmt::format("  {} promises {}\n", label_of(row), promise_of(report, row));
  }
  for (const HermitageRow& row : report.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (row.cells[i].outcome != HermitageOutcome::Unclear) continue;
      out += fmt::format("  {}, {}: unclear: {}\n", label_of(row), report.tests[i].name,
                         row.cells[i].reason);
    }
  }
  for (const std::string& note : report.notes) out += fmt::format("  note: {}\n", note);
  return out;
}

std::string to_markdown(const HermitageReport& report) {
  std::string out;
  for (const bool classic : {true, false}) {
    const std::vector<std::size_t> columns = columns_of(report, classic);
    if (columns.empty()) continue;
    if (!out.empty()) out += '\n';
    out += fmt::format("| {} |", databases_of(report));
    for (const std::size_t i : columns) out += fmt::format(" {} |", report.tests[i].name);
    out += classic ? " promise |\n|---|" : "\n|---|";
    for (std::size_t i = 0; i < columns.size(); ++i) out += "---|";
    out += classic ? "---|\n" : "\n";
    for (const HermitageRow& row : report.rows) {
      out += fmt::format("| {} |", label_of(row));
      for (const std::size_t i : columns) out += fmt::format(" {} |", mark_of(row.cells[i]));
      out += classic ? fmt::format(" {} |\n", promise_of(report, row)) : "\n";
    }
  }
  return out + legend(report).substr(0, legend(report).size());
}

std::string to_json(const HermitageReport& report) {
  std::string out = "{\"rows\":[";
  for (const HermitageRow& row : report.rows) {
    out += '{';
    put(out, "database", row.database);
    put(out, "isolation", row.isolation);
    put(out, "options", row.options);
    put(out, "promises", info(row.claims).name);
    out += fmt::format("\"kept\":{},\"cells\":[", !row.broken());
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (i > 0) out += ',';
      put_cell(out, report.tests[i], row.cells[i]);
    }
    out += "]},";
  }
  if (out.back() == ',') out.pop_back();
  out += "],\"notes\":[";
  for (const std::string& note : report.notes) {
    if (out.back() != '[') out += ',';
    append_json_string(out, note);
  }
  return out + "]}\n";
}

std::string describe_steps(const HermitageReport& report) {
  std::string out;
  for (const HermitageRow& row : report.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const HermitageCell& cell = row.cells[i];
      if (cell.steps.empty()) continue;
      out +=
          fmt::format("\n{}, {}: {}{}\n", label_of(row), report.tests[i].name, name(cell.outcome),
                      cell.anomaly.empty() ? "" : fmt::format(" ({})", cell.anomaly));
      for (const HermitageStep& step : cell.steps) {
        const std::string answer = step.refused ? "refused: " + step.answer : step.answer;
        out += trimmed(fmt::format("  {}  {}{}{}", step.client, padded(step.what, 12),
                                   !step.waited     ? ""
                                   : answer.empty() ? "waits"
                                                    : "waits, then ",
                                   answer));
      }
    }
  }
  return out;
}

}  // namespace ouro
