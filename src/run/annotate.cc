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

// A change of a line: `text` instead of the `erased` bytes from `at` on.
struct Edit {
  std::size_t at = 0;
  std::size_t erased = 0;
  std::string text;
};

// If `time` is known, takes away what the line said before under that name: some times are known
// when a transaction ends, and are told again after the run.
void drop_time(const std::string& line, std::string_view member, Timestamp time,
               std::vector<Edit>& edits) {
  if (time == kNoTimestamp) return;
  const std::size_t at = line.find(member);
  if (at >= line.find("\"ops\":")) return;
  const bool pair = line[at + member.size()] == '[';
  const std::size_t end = line.find(',', pair ? line.find(']', at) : at);
  edits.push_back({at, end + 1 - at, ""});
}

// The line after applying the annotation.
std::string annotated(const std::string& line, const Annotation& annotation) {
  std::vector<Edit> edits{{1, 0, ""}};
  print_times(annotation.start, annotation.commit, edits.front().text);
  drop_time(line, "\"start_ts\":", annotation.start, edits);
  drop_time(line, "\"commit_ts\":", annotation.commit, edits);
  constexpr std::string_view kUnknown = "\"status\":\"unknown\",";
  const std::size_t status = line.find(kUnknown);
  if (annotation.resolution != db::Resolution::Unknown && status != std::string::npos) {
    const bool aborted = annotation.resolution == db::Resolution::Aborted;
    edits.push_back({status, kUnknown.size(), aborted ? "\"status\":\"aborted\"," : ""});
  }
  for (const auto& [place, text] : annotation.inserts) edits.push_back({place, 0, text});
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.at < b.at; });
  std::string out;
  std::size_t from = 0;
  for (const Edit& edit : edits) {
    out.append(line, from, edit.at - from);
    out += edit.text;
    from = edit.at + edit.erased;
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
