#include "run/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <unordered_map>

#include "base/half_written.h"
#include "base/system_error.h"

namespace ouro::running {
namespace {

Error error_at(const std::string& path, const std::string& what) {
  Error error;
  error.file = path;
  error.what = what;
  return error;
}

// The line after applying the annotation.
std::string annotated(const std::string& line, const Annotation& annotation) {
  std::string out = "{";
  print_times(annotation.start, annotation.commit, out);
  std::size_t from = 1;
  constexpr std::string_view kUnknown = "\"status\":\"unknown\",";
  if (annotation.resolution != db::Resolution::Unknown) {
    const std::size_t at = line.find(kUnknown);
    if (at != std::string::npos) {
      out.append(line, from, at - from);
      if (annotation.resolution == db::Resolution::Aborted) out += "\"status\":\"aborted\",";
      from = at + kUnknown.size();
    }
  }
  for (const auto& [place, text] : annotation.inserts) {
    out.append(line, from, place - from);
    out += text;
    from = place;
  }
  return out.append(line, from);
}

std::string print_order(const db::Recovered::Order& order, db::Model model) {
  std::string versions;
  if (model == db::Model::Rows) {
    for (const db::Row& row : order.rows) {
      if (!versions.empty()) versions += ',';
      print_row(row, versions);
    }
  } else {
    versions = fmt::format("{}", fmt::join(order.numbers, ","));
  }
  return fmt::format("{{\"key\":{},\"versions\":[{}],\"complete\":{}}}\n", order.key, versions,
                     order.complete);
}

}  // namespace

std::vector<Annotation> annotations(std::vector<OpenLine>& lines, const db::Recovered& recovered,
                                    db::Database& database) {
  std::sort(lines.begin(), lines.end(),
            [](const OpenLine& a, const OpenLine& b) { return a.line < b.line; });
  std::vector<Annotation> out;
  std::unordered_map<std::uint64_t, std::size_t> of_token;
  for (const OpenLine& line : lines) {
    of_token[line.token] = out.size();
    out.push_back({.line = line.line, .inserts = {}});
    if (line.unknown) out.back().resolution = database.resolve(line.token);
  }
  for (const db::Recovered::Times& times : recovered.times) {
    const auto found = of_token.find(times.token);
    if (found == of_token.end()) continue;
    out[found->second].start = times.start;
    out[found->second].commit = times.commit;
  }
  for (const db::Recovered::VersionSet& set : recovered.version_sets) {
    const auto found = of_token.find(set.token);
    if (found == of_token.end()) continue;
    const OpenLine& line = lines[found->second];
    if (set.read >= line.predicate_ends.size()) continue;
    std::string text = ",{\"versions\":";
    print_rows(set.versions, text);
    out[found->second].inserts.emplace_back(line.predicate_ends[set.read], text + '}');
  }
  for (Annotation& annotation : out) {
    std::sort(annotation.inserts.begin(), annotation.inserts.end());
  }
  return out;
}

Status annotate(const std::string& path, const std::vector<Annotation>& annotations,
                const std::vector<db::Recovered::Order>& orders, db::Model model,
                const std::string& nemesis) {
  HalfWritten part(path + ".part");
  std::ifstream in(path, std::ios::binary);
  std::ofstream out(part.path(), std::ios::binary | std::ios::trunc);
  if (!in) return error_at(path, "cannot read this file back");
  auto next = annotations.begin();
  std::string line;
  for (std::uint64_t number = 0; std::getline(in, line); ++number) {
    if (next != annotations.end() && next->line == number) {
      line = annotated(line, *next);
      ++next;
    }
    if (number == 0 && !nemesis.empty() && line.ends_with("}}")) {
      line.insert(line.size() - 2, fmt::format(",\"nemesis\":\"{}\"", nemesis));
    }
    out << line << '\n';
  }
  for (const db::Recovered::Order& order : orders) {
    if (model == db::Model::Rows && order.rows.empty()) continue;
    out << print_order(order, model);
  }
  out.close();
  if (!out) return error_at(part.path(), "cannot write this file");
  return part.finish(path) ? Status{} : system_error(path, "cannot replace this file");
}

}  // namespace ouro::running
