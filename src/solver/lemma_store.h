// The lemmas of a search that makes many: one after the other in one block of memory, each with
// what it rests on, and forgotten once neither the search nor a lemma that is kept needs it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solver/proof.h"

namespace ouro {

class LemmaStore {
 public:
  // Where a lemma is. Changes when others are forgotten; its LemmaId does not.
  using Ref = std::uint32_t;
  static constexpr Ref kNone = 0xffffffff;

  // What `because` is: the premises of a lemma that follows from others, or whatever the search
  // knows a cycle by.
  enum class Kind : std::uint8_t { Premises, Cycle };

  Ref add(Kind kind, std::span<const Literal> literals, std::span<const std::uint32_t> because);

  // The codes of its literals, in an order that is the caller's business.
  [[nodiscard]] std::span<std::uint32_t> codes(Ref ref) {
    return {words_.data() + ref + kHeader, words_[ref + 1]};
  }
  [[nodiscard]] std::span<const std::uint32_t> because(Ref ref) const {
    return {words_.data() + ref + kHeader + words_[ref + 1], words_[ref + 2] / 2};
  }
  [[nodiscard]] Kind kind(Ref ref) const { return static_cast<Kind>(words_[ref + 2] & 1); }
  [[nodiscard]] LemmaId id(Ref ref) const { return words_[ref]; }
  // REQUIRES: the lemma was not forgotten.
  [[nodiscard]] Ref ref(LemmaId id) const { return refs_[id]; }
  // A number that the caller may keep with each lemma.
  [[nodiscard]] std::uint32_t& note(Ref ref) { return words_[ref + 3]; }

  [[nodiscard]] std::size_t words() const { return words_.size(); }
  // Forgets all but `roots` and what they rest on, directly or not. Cost: linear.
  void keep_only(std::span<const LemmaId> roots);
  // All that `last` rests on, in the order they were added, and then `last`.
  [[nodiscard]] std::vector<LemmaId> needed_by(LemmaId last) const;

 private:
  // id, number of literals, 2 · number of `because` + kind, note.
  static constexpr std::size_t kHeader = 4;

  [[nodiscard]] std::vector<bool> needed(std::span<const LemmaId> roots) const;

  std::vector<std::uint32_t> words_;
  std::vector<Ref> refs_;  // By LemmaId; kNone if it was forgotten.
};

}  // namespace ouro
