// The part of Narrator that tells cases: what each assumes, and the cycle that follows.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "history/access.h"
#include "history/commuting.h"
#include "report/narrator.h"
#include "report/notation.h"
#include "report/wrong_totals.h"

namespace ouro {
// Whether the two transactions of the assumption are the only ones in the story that write the key.
bool Narrator::only_writers(const Assumption& given) const {
  std::set<TxnId> writers;
  for (const OpId op : ops_) {
    if (history_.op(op).key == given.key && is_write(history_.op(op).kind)) {
      writers.insert(history_.txn_of(op));
    }
  }
  return writers.size() <= 2;
}

// The value that an open read returned, if it tells; null if it is a compare-and-set that failed.
Value Narrator::returned(const ReadSource& said) const {
  const Op read = history_.op(said.read);
  if (is_open_read(read.kind)) return {};
  if (!is_predicate_read(read.kind)) return read.value;
  for (const KeyVersion& row : history_.rows(history_.predicate_read(said.read))) {
    if (row.key == said.key) return row.value;
  }
  return {};
}

// Who wrote the row that a read of a counter saw or missed; invalid if it is no such read.
TxnId Narrator::incrementer(const ReadSource& said) const {
  const Op read = history_.op(said.read);
  if (!is_predicate_read(read.kind) ||
      counter_read(history_, read.kind, history_.predicate_read(said.read)).is_null()) {
    return {};
  }
  for (std::size_t i = 0; i < history_.op_count(); ++i) {
    const Op op = history_.op(OpId{i});
    if (op.key == said.key && is_write(op.kind)) return history_.txn_of(op.id);
  }
  return {};
}

// Whether the case is about a key that a predicate read does not tell of.
bool Narrator::is_untold(const ReadSource& said) const {
  if (!has_untold_keys(history_, said.read)) return false;
  const auto rows = history_.rows(history_.predicate_read(said.read));
  return std::none_of(rows.begin(), rows.end(),
                      [&](const KeyVersion& row) { return row.key == said.key; });
}

// "T3's count=2 saw T1's alice", or "T3's count=2 saw alice as it was at first"; or "T3's scan a..f
// found b deleted by T1".
std::string Narrator::untold_premise(const ReadSource& said) const {
  const std::string read =
      fmt::format("{}'s {}", label(history_.txn_of(said.read)), noted(history_.op(said.read)));
  const std::string key = short_key(history_, said.key);
  if (history_.op(said.read).kind == OpKind::Scan) {
    return said.writer.valid()
               ? fmt::format("{} found {} deleted by {}", read, key, label(said.writer))
               : fmt::format("{} found no {} yet", read, key);
  }
  if (said.writer.valid()) return fmt::format("{} saw {}'s {}", read, label(said.writer), key);
  const bool none = history_.initial(said.key).is_null();
  return none ? fmt::format("{} saw no {} yet", read, key)
              : fmt::format("{} saw {} as it was at first", read, key);
}

// "element 3 of l, 7": an element of a list that several transactions may have appended.
std::string Narrator::element_name(const ReadSource& said) const {
  const auto list = history_.list(history_.op(said.read).value);
  return fmt::format("element {} of {}, {},", said.element, short_key(history_, said.key),
                     text(list[said.element - 1]));
}

// "If T3 read x=50 from T1", or "If T3's cas x 1→2 read T1's x=5", for each read of the case.
std::string Narrator::sources_premise(const Case& each) const {
  std::string out;
  for (const ReadSource& said : each.sources) {
    out += out.empty() ? "If " : " and ";
    if (said.element != 0) {
      out += fmt::format("{} is {}'s", element_name(said), label(said.writer));
      continue;
    }
    if (is_untold(said)) {
      out += untold_premise(said);
      continue;
    }
    const Op read = history_.op(said.read);
    const std::string reader = label(history_.txn_of(said.read));
    if (const TxnId other = incrementer(said); other.valid()) {
      out += fmt::format("{}'s {} {} {}", reader, noted(read),
                         said.writer.valid() ? "saw" : "missed", label(other));
      continue;
    }
    if (!is_open_read(read.kind)) {
      out += fmt::format("{} read {} from {}", reader, assigned(said.key, returned(said)),
                         label(said.writer));
      continue;
    }
    std::string what = fmt::format("the initial {}={}", short_key(history_, read.key),
                                   text(history_.initial(read.key)));
    if (said.writer.valid()) {
      Value last;
      for (OpId id = history_.first_op(said.writer); id < history_.end_op(said.writer);
           ++id.value) {
        if (history_.op(id).key == read.key && is_write(history_.op(id).kind)) {
          last = history_.op(id).value;
        }
      }
      what = fmt::format("{}'s {}", label(said.writer), assigned(read.key, last));
    }
    out += fmt::format("{}'s {} read {}", reader, cas_notation(history_, read), what);
  }
  for (const ReadSight& sight : each.sights) {
    out += fmt::format("{}{}'s {} {} {}'s {}", out.empty() ? "If " : " and ",
                       label(history_.txn_of(sight.read)), noted(history_.op(sight.read)),
                       sight.seen ? "saw" : "missed", label(sight.writer),
                       short_key(history_, sight.key));
  }
  return out;
}

bool Narrator::is_about_counter(const Case& each) const {
  return std::any_of(each.sources.begin(), each.sources.end(),
                     [&](const ReadSource& said) { return incrementer(said).valid(); });
}

std::string Narrator::premise(const Case& each) const {
  const bool assumes = !each.sources.empty() || !each.sights.empty();
  if (assumes && each.given.empty()) return sources_premise(each) + ":";
  if (each.given.empty()) return "In any case:";
  const auto verb = [&](const Assumption& given) {
    for (const OpId op : ops_) {
      const bool append = is_append(history_.op(op).kind);
      if (append && history_.op(op).key == given.key) return "appended to";
    }
    return "wrote";
  };
  if (each.given.size() == 1 && !assumes && only_writers(each.given[0])) {
    return fmt::format("If {} {} {} first:", label(each.given[0].first), verb(each.given[0]),
                       short_key(history_, each.given[0].key));
  }
  std::string out = sources_premise(each);
  for (const Assumption& given : each.given) {
    out += fmt::format("{}{} {} {} before {}", out.empty() ? "If " : " and ", label(given.first),
                       verb(given), short_key(history_, given.key), label(given.second));
  }
  return out + ":";
}

// A sentence for each read that the cases are about.
std::vector<std::string> Narrator::open_reads() const {
  std::map<std::tuple<OpId, KeyId, std::uint32_t>, std::set<TxnId>> writers;
  for (const Case& each : story_.cases) {
    for (const ReadSource& said : each.sources) {
      writers[{said.read, said.key, said.element}].insert(said.writer);
    }
  }
  std::vector<std::string> out;
  for (const auto& [place, from] : writers) {
    const auto [read, key, element] = place;
    const Op op = history_.op(read);
    if (incrementer({read, key, {}}).valid()) continue;  // Its cases say enough.
    const std::string reader = label(history_.txn_of(read));
    if (is_untold({read, key, {}})) continue;
    if (is_open_read(op.kind)) {
      out.push_back(fmt::format("{}'s {}, so it read something else than {}.", reader, noted(op),
                                assigned(op.key, op.value)));
      continue;
    }
    std::vector<TxnId> wrote(from.begin(), from.end());
    std::erase(wrote, kInitialTxn);
    std::string names;
    for (std::size_t i = 0; i < wrote.size(); ++i) {
      const std::string_view last = element != 0 ? " or " : " and ";
      names += i == 0 ? "" : i + 1 == wrote.size() ? last : ", ";
      names += label(wrote[i]);
    }
    if (element != 0) {
      out.push_back(fmt::format("{} read {}, of which {} may be that of {}.", reader,
                                assigned(key, op.value), element_name({read, key, {}, element}),
                                names));
      continue;
    }
    const bool initially = from.contains(kInitialTxn);
    out.push_back(fmt::format(
        "{} read {}, which {}{}{}.", reader, assigned(key, returned({read, key, {}})),
        initially ? "was there at first" : "", initially && !wrote.empty() ? " and which " : "",
        wrote.empty() ? "" : names + " wrote"));
  }
  return out;
}

// A sentence for each transaction that saw another total of all counters than they ever have, and
// for each that saw a negative balance.
std::vector<std::string> Narrator::totals() const {
  std::vector<std::string> out;
  for (const WrongTotal& wrong : wrong_totals(history_, txns_)) {
    out.push_back(fmt::format("{} counted {} in all, but all counters together always hold {}.",
                              label(wrong.txn), wrong.counted, wrong.held));
  }
  for (const NegativeBalance& negative : negative_balances(history_, txns_)) {
    out.push_back(fmt::format("{} found a negative balance: {}.", label(negative.txn),
                              noted(history_.op(negative.read))));
  }
  return out;
}

// Whether the case is impossible only because a predicate read would not have returned what it did.
bool Narrator::is_other_result(const Case& each) const {
  return each.plain == AnomalyKind::ResultSetMismatch && story_.cases.size() > 1 &&
         std::any_of(story_.cases.begin(), story_.cases.end(),
                     [](const Case& other) { return !other.plain; });
}

bool Narrator::is_certain() const {
  return story_.cases.size() == 1 && story_.cases[0].given.empty() &&
         story_.cases[0].sources.empty() && story_.cases[0].sights.empty();
}

Narrator::ToldCases Narrator::told_cases(std::size_t most) const {
  ToldCases out;
  for (std::size_t i = 0; i < story_.cases.size(); ++i) {
    if (is_other_result(story_.cases[i])) continue;
    if (out.numbers.size() < most) {
      out.numbers.push_back(i);
    } else {
      ++out.left;
      if (i == story_.named_by) out.numbers.back() = i;
    }
  }
  return out;
}

std::vector<std::string> Narrator::opening() const {
  std::vector<std::string> out = totals();
  if (is_certain()) return out;
  const std::vector<std::string> reads = open_reads();
  out.insert(out.end(), reads.begin(), reads.end());
  return out;
}

std::string Narrator::wrong_at_once(const Case& each) const {
  if (!each.plain) return {};
  if (each.plain == AnomalyKind::ResultSetMismatch && is_about_counter(each)) {
    return "Then the increments that a read saw cannot add up to what it returned.";
  }
  return fmt::format("That is wrong in plain sight, as {}: {}.",
                     with_article(info(*each.plain).name), info(*each.plain).meaning);
}

std::string Narrator::supposition(const Edge& edge) const {
  const std::string from = label(edge.from);
  const std::string to = label(edge.to);
  const std::string key = short_key(history_, edge.key);
  switch (edge.kind) {
    case EdgeKind::WriteRead:
      return fmt::format("Supposed: {} saw {}'s {}.", to, from, key);
    case EdgeKind::ReadWrite:
      return fmt::format("Supposed: {} missed {}'s {}.", from, to, key);
    default:
      return fmt::format("Supposed: {} wrote {} before {}.", from, key, to);
  }
}

std::string Narrator::left_cases(std::size_t count) {
  return fmt::format("… and {}, until no order of the writes is left.",
                     counted(count, "more case"));
}

std::string Narrator::closing() const {
  const bool others = std::any_of(story_.cases.begin(), story_.cases.end(),
                                  [&](const Case& each) { return is_other_result(each); });
  return others ? "If they saw other versions, they would have returned something else." : "";
}

// "T1 and T2 swapped", "T3 for T2 and y3 for y2".
std::string Narrator::other_names(const Case& each) const {
  std::vector<std::string> parts;
  const auto add = [&](const auto& renamed, const auto& called) {
    for (const auto& [here, there] : renamed) {
      const bool swapped = std::any_of(
          renamed.begin(), renamed.end(),
          [&, h = here, t = there](const auto& back) { return back.here == t && back.there == h; });
      if (!swapped) {
        parts.push_back(fmt::format("{} for {}", called(there), called(here)));
      } else if (here < there) {
        parts.push_back(fmt::format("{} and {} swapped", called(here), called(there)));
      }
    }
  };
  add(each.other_txns, [&](TxnId txn) { return label(txn); });
  std::vector<Renamed<KeyId>> keys = each.other_keys;
  std::erase_if(keys, [&](const auto& renamed) {  // Increments of counters are shown without them.
    const Value name = history_.key_name(renamed.here);
    return name.kind() == ValueKind::Text && is_hidden(history_.string(name));
  });
  add(keys, [&](KeyId key) { return short_key(history_, key); });
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  }
  return out;
}

std::vector<std::string> Narrator::lines() const {
  if (story_.cases.empty()) return {plain_sentence()};
  std::vector<std::string> out = opening();
  if (is_certain()) {
    const std::vector<std::string> proof = sentences(story_.cases[0].cycle);
    out.insert(out.end(), proof.begin(), proof.end());
    return out;
  }
  const ToldCases told = told_cases(kCasesTold);
  for (const std::size_t i : told.numbers) {
    const Case& each = story_.cases[i];
    if (told.mirrored(each)) {
      out.push_back(fmt::format("{} the same, with {}.", premise(each), other_names(each)));
      continue;
    }
    out.push_back(premise(each));
    if (std::string wrong = wrong_at_once(each); !wrong.empty()) out.push_back("  " + wrong);
    for (const std::string& line : sentences(each.cycle)) out.push_back("  " + line);
  }
  if (told.left > 0) out.push_back(left_cases(told.left));
  if (std::string line = closing(); !line.empty()) out.push_back(std::move(line));
  return out;
}

}  // namespace ouro
