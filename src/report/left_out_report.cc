// What verdicts leave out, in words.

#include <fmt/format.h>

#include <algorithm>

#include "ouro/report.h"
#include "report/notation.h"
#include "report/telling.h"

namespace ouro {
namespace {

// "1 read has", "2 reads have".
std::string with_verb(std::uint64_t count, std::string_view noun) {
  return counted(count, noun) + (count == 1 ? " has" : " have");
}

std::string sentence(const LeftOut& left) {
  switch (left.kind) {
    case LeftOutKind::Everything:
      return "no transaction committed, so nothing was checked";
    case LeftOutKind::RealTime:
      if (left.all()) return "no transaction has clocks, so nothing is said about real time";
      return fmt::format("{} of {} no clocks, so real time is checked between the others only",
                         grouped(left.count), with_verb(left.total, "transaction"));
    case LeftOutKind::Sessions:
      if (left.all()) return "no transaction has a session, so nothing is said about session order";
      return fmt::format("{} of {} no session, so session order is checked between the others only",
                         grouped(left.count), with_verb(left.total, "transaction"));
    case LeftOutKind::Results:
      return with_verb(left.count, "read") + " no recorded result";
    case LeftOutKind::Balances:
      return fmt::format(
          "{} of {} balances that were read {} negative, and what transfers checked "
          "is not recorded",
          grouped(left.count), grouped(left.total), left.count == 1 ? "is" : "are");
    case LeftOutKind::Omissions:
      return fmt::format(
          "{} not say what {} saw, so what {} missed is judged from prefix up only",
          counted(left.count, "predicate read") + (left.count == 1 ? " does" : " do"),
          left.count == 1 ? "it" : "they", left.count == 1 ? "it" : "they");
  }
  return {};
}

}  // namespace

std::vector<LeftOut> left_out_of(std::span<const Verdict> verdicts) {
  std::vector<LeftOut> out;
  for (const Verdict& verdict : verdicts) {
    for (const LeftOut& left : verdict.left_out) {
      const auto same = [&](const LeftOut& other) { return other.kind == left.kind; };
      if (std::none_of(out.begin(), out.end(), same)) out.push_back(left);
    }
  }
  std::sort(out.begin(), out.end(),
            [](const LeftOut& a, const LeftOut& b) { return a.kind < b.kind; });
  return out;
}

std::string describe(std::span<const LeftOut> left_out) {
  std::vector<std::string> sentences;
  for (const LeftOut& left : left_out) sentences.push_back(sentence(left));
  return fmt::format("{}", fmt::join(sentences, "; "));
}

}  // namespace ouro
