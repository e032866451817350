#include "solver/lemma_store.h"

#include <algorithm>

#include "base/internal_error.h"

namespace ouro {

LemmaStore::Ref LemmaStore::add(Kind kind, std::span<const Literal> literals,
                                std::span<const std::uint32_t> because) {
  const std::size_t size = words_.size();
  insist(size + kHeader + literals.size() + because.size() < kNone, "too many lemmas");
  const Ref ref = static_cast<Ref>(size);
  words_.push_back(static_cast<std::uint32_t>(refs_.size()));
  words_.push_back(static_cast<std::uint32_t>(literals.size()));
  words_.push_back(static_cast<std::uint32_t>(because.size() * 2) +
                   static_cast<std::uint32_t>(kind));
  words_.push_back(0);
  for (const Literal literal : literals) words_.push_back(literal.code);
  words_.insert(words_.end(), because.begin(), because.end());
  refs_.push_back(ref);
  return ref;
}

// Premises are older than what rests on them, so one pass from the youngest to the oldest finds
// all.
std::vector<bool> LemmaStore::needed(std::span<const LemmaId> roots) const {
  std::vector<bool> found(refs_.size(), false);
  for (const LemmaId root : roots) found[root] = true;
  for (LemmaId id = static_cast<LemmaId>(refs_.size()); id-- > 0;) {
    if (!found[id] || kind(refs_[id]) != Kind::Premises) continue;
    for (const LemmaId premise : because(refs_[id])) found[premise] = true;
  }
  return found;
}

void LemmaStore::keep_only(std::span<const LemmaId> roots) {
  const std::vector<bool> kept = needed(roots);
  std::size_t end = 0;
  for (LemmaId id = 0; id < refs_.size(); ++id) {
    const Ref from = refs_[id];
    if (from == kNone) continue;
    if (!kept[id]) {
      refs_[id] = kNone;
      continue;
    }
    const std::size_t size = kHeader + words_[from + 1] + words_[from + 2] / 2;
    std::copy(words_.begin() + from, words_.begin() + static_cast<std::ptrdiff_t>(from + size),
              words_.begin() + static_cast<std::ptrdiff_t>(end));
    refs_[id] = static_cast<Ref>(end);
    end += size;
  }
  words_.resize(end);
}

std::vector<LemmaId> LemmaStore::needed_by(LemmaId last) const {
  const std::vector<bool> found = needed(std::span(&last, 1));
  std::vector<LemmaId> ids;
  for (LemmaId id = 0; id <= last; ++id) {
    if (found[id]) ids.push_back(id);
  }
  return ids;
}

}  // namespace ouro
