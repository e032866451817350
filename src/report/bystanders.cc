// The part of Narrator that says what those transactions are there for which nothing else mentions.

#include <fmt/format.h>

#include <algorithm>

#include "explain/source.h"
#include "report/narrator.h"
#include "report/notation.h"

namespace ouro {
namespace {

// Whether `text` has the label, and not as the beginning of a longer one.
bool mentions(std::string_view text, std::string_view label) {
  for (std::size_t at = text.find(label); at != text.npos; at = text.find(label, at + 1)) {
    const std::size_t end = at + label.size();
    if (end == text.size() || text[end] < '0' || text[end] > '9') return true;
  }
  return false;
}

}  // namespace

// "wrote x=1", "appended 7 to l", "read x=1", "did delete x".
std::string Narrator::deed(const Op& op) const {
  if (op.kind == OpKind::Write) return "wrote " + assigned(op.key, op.value);
  if (op.kind == OpKind::Append) {
    return fmt::format("appended {} to {}", text(op.value), short_key(history_, op.key));
  }
  const bool just_read = is_open_read(op.kind) || op.kind == OpKind::Read;
  return just_read ? read_phrase(op.id, op.key) : "did " + noted(op);
}

// ", which T2 and T3 read"; "" if nobody did.
std::string Narrator::readers_of(OpId write) const {
  std::string out;
  bool by_predicate = false;
  for (const OpId read : ops_) {
    if (history_.txn_of(read) == history_.txn_of(write) || !is_seen(history_, write, read)) {
      continue;
    }
    const std::string who = label(history_.txn_of(read));
    if (mentions(out, who)) continue;
    out += (out.empty() ? "" : " and ") + who;
    by_predicate |= is_predicate_read(history_.op(read).kind);
  }
  if (out.empty()) return out;
  return fmt::format(", which {} {}", out, by_predicate ? "saw" : "read");
}

// " from T1 and T2": who wrote what the read returned, as far as the story tells of it.
std::string Narrator::writers_of(OpId read) const {
  std::string out;
  for (const OpId write : ops_) {
    if (history_.txn_of(read) == history_.txn_of(write) || !is_seen(history_, write, read)) {
      continue;
    }
    const std::string who = label(history_.txn_of(write));
    if (!mentions(out, who)) out += (out.empty() ? " from " : " and ") + who;
  }
  return out;
}

// "T1 wrote stock=10, which T2 and T3 read."; how it is connected if it did nothing that matters.
std::string Narrator::role(TxnId txn) const {
  std::string out;
  for (const OpId id : ops_) {
    const Op op = history_.op(id);
    const bool told = info(op.kind).second &&  // With its first half.
                      std::binary_search(ops_.begin(), ops_.end(), OpId{id.index() - 1});
    if (history_.txn_of(id) != txn || told) continue;
    const OpId last = info(op.kind).first ? OpId{id.index() + 1} : id;
    out += (out.empty() ? "" : "; ") + deed(op) + writers_of(id) + readers_of(last);
  }
  if (!out.empty()) return fmt::format("{} {}.", label(txn), out);
  const auto touches = [&](const Edge& edge) { return edge.from == txn || edge.to == txn; };
  const auto because_of = [&](std::span<const Edge> edges) {
    const auto at = std::find_if(edges.begin(), edges.end(), touches);
    return at == edges.end() ? std::string() : because(*at) + ".";
  };
  out = because_of(story_.support);
  for (const Case& each : story_.cases) {
    if (out.empty()) out = because_of(each.cycle);
  }
  return out.empty() ? fmt::format("{} has nothing to do with it.", label(txn)) : out;
}

// Whether the transaction is in a cycle that is told. Of a long one the text leaves out the middle.
bool Narrator::acts(TxnId txn) const {
  const ToldCases told = told_cases(kCasesTold);
  return std::any_of(told.numbers.begin(), told.numbers.end(), [&](std::size_t number) {
    const Case& each = story_.cases[number];
    const auto touches = [&](const Edge& edge) { return edge.from == txn || edge.to == txn; };
    return !told.mirrored(each) && std::any_of(each.cycle.begin(), each.cycle.end(), touches);
  });
}

std::vector<std::string> Narrator::others(std::span<const std::string> told) const {
  const std::string summary = in_short();
  std::vector<std::string> out;
  for (const TxnId txn : txns_) {
    const std::string who = label(txn);
    const auto mentioned = [&](const std::string& line) { return mentions(line, who); };
    if (acts(txn)) continue;
    if (mentioned(summary) || std::any_of(told.begin(), told.end(), mentioned)) continue;
    out.push_back(role(txn));
  }
  return without_middle(std::move(out), "transactions");
}

std::vector<std::string> Narrator::proof() const {
  const std::vector<std::string> told = has_proof() ? lines() : std::vector<std::string>();
  std::vector<std::string> out = others(told);
  out.insert(out.end(), told.begin(), told.end());
  return out;
}

}  // namespace ouro
