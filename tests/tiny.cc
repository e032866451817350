#include "tests/tiny.h"

#include <fmt/format.h>

#include <stdexcept>

#include "ouro/format.h"
#include "tests/case_file.h"

namespace ouro {
namespace {

History tiny_history(std::string_view text) {
  if (!text.starts_with('{')) return oracle::history_of(text);
  auto history = parse_history(text, {.format = Format::Native, .threads = 1}, "tiny");
  if (!history.ok()) throw std::invalid_argument(history.error().to_string());
  return *std::move(history);
}

}  // namespace

Tiny::Tiny(std::string_view text, Evidence evidence, Tombstones tombstones)
    : history_(tiny_history(text)) {
  auto observed = Observed::observe(history_, Budget(), 1, evidence, tombstones);
  if (!observed.ok()) throw std::invalid_argument(observed.error().to_string());
  observed_ = *std::move(observed);
}

std::string Tiny::error_of(std::string_view text, Evidence evidence) {
  const History history = tiny_history(text);
  const auto observed = Observed::observe(history, Budget(), 1, evidence);
  return observed.ok() ? "no error" : observed.error().what;
}

KeyId Tiny::key(std::string_view name) const {
  for (std::size_t k = 0; k < history_.key_count(); ++k) {
    if (history_.key_label(KeyId{k}) == name) return KeyId{k};
  }
  throw std::invalid_argument("no such key");
}

std::string Tiny::name(TxnId txn) {
  return txn == kInitialTxn ? "T0" : fmt::format("T{}", txn.index() + 1);
}

std::string Tiny::name(ItemId item) const {
  if (!item.valid()) return "-";
  const TxnId txn = observed_->txn(item);
  return fmt::format("{}.{}", name(txn), item.index() - items().first(txn).index() + 1);
}

std::string Tiny::text(std::span<const Edge> edges) {
  std::string out;
  for (const Edge& edge : edges) {
    out += fmt::format("{}{} {} {}", out.empty() ? "" : ", ", name(edge.from),
                       ouro::name(edge.kind), name(edge.to));
  }
  return out;
}

std::string Tiny::wrong_reads() const {
  std::string out;
  for (const WrongRead& wrong : observed_->wrong_reads()) {
    out += fmt::format("{}{} {} {}", out.empty() ? "" : "\n", info(wrong.kind).name,
                       name(wrong.item), name(wrong.other));
  }
  return out;
}

std::string Tiny::version_steps() const {
  std::string out;
  for (const VersionStep& step : observed_->version_steps()) {
    out += fmt::format("{}{}{}{}", out.empty() ? "" : ", ", name(step.from),
                       step.adjacent ? ">" : " ", name(step.to));
  }
  return out;
}

}  // namespace ouro
