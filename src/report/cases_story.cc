// The sentences for cycles, case by case.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "history/access.h"
#include "report/narrator.h"
#include "report/notation.h"

namespace ouro {
namespace {

constexpr std::size_t kCasesTold = 8;

}  // namespace

// Whether nobody else in the story writes the key.
bool Narrator::only_writers(const Assumption& given) const {
  std::set<TxnId> writers;
  for (const OpId op : ops_) {
    if (history_.op(op).key == given.key && is_write(history_.op(op).kind)) {
      writers.insert(history_.txn_of(op));
    }
  }
  return writers.size() <= 2;
}

std::string Narrator::premise(const Case& each) const {
  if (each.given.empty()) return "In any case:";
  const auto verb = [&](const Assumption& given) {
    for (const OpId op : ops_) {
      const bool append = is_append(history_.op(op).kind);
      if (append && history_.op(op).key == given.key) return "appended to";
    }
    return "wrote";
  };
  if (each.given.size() == 1 && only_writers(each.given[0])) {
    return fmt::format("If {} {} {} first:", label(each.given[0].first), verb(each.given[0]),
                       short_key(history_, each.given[0].key));
  }
  std::string out = "If ";
  for (const Assumption& given : each.given) {
    out += fmt::format("{}{} {} {} before {}", out.size() > 3 ? " and " : "", label(given.first),
                       verb(given), short_key(history_, given.key), label(given.second));
  }
  return out + ":";
}

std::vector<std::string> Narrator::lines() const {
  if (story_.cases.empty()) return {plain_sentence()};
  const bool alone = story_.cases.size() == 1 && story_.cases[0].given.empty();
  if (alone) return sentences(story_.cases[0].cycle);
  std::vector<std::string> out;
  const std::size_t told = std::min(story_.cases.size(), kCasesTold);
  for (std::size_t i = 0; i < told; ++i) {
    const Case& each = story_.cases[i];
    if (each.mirrors) {
      out.push_back(fmt::format("{} the same, with {} and {} swapped.", premise(each),
                                label(each.exchanged[0]), label(each.exchanged[1])));
      continue;
    }
    out.push_back(premise(each));
    for (const std::string& line : sentences(each.cycle)) out.push_back("  " + line);
  }
  if (story_.cases.size() > told) {
    out.push_back(fmt::format("… and {} more cases, until no order of the writes is left.",
                              grouped(story_.cases.size() - told)));
  }
  return out;
}

}  // namespace ouro
