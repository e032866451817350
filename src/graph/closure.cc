#include "graph/closure.h"

#include <algorithm>

namespace ouro {

Closure::Closure(const Digraph& known)
    : in_(known.reversed()),
      width_((known.node_count() + kBits - 1) / kBits),
      rows_(known.node_count() * width_),
      first_in_(known.node_count(), -1) {
  gain_.bits_.resize(width_);
  for (Node node = static_cast<Node>(known.node_count()); node-- > 0;) {
    std::uint64_t* here = row(node);
    here[node / kBits] |= std::uint64_t{1} << (node % kBits);
    for (const Node to : known.out(node)) {
      if (reaches(node, to)) continue;
      const std::uint64_t* there = row(to);
      for (std::size_t word = to / kBits; word < width_; ++word) here[word] |= there[word];
      words_ += width_ - to / kBits;
    }
  }
}

// Finds the words of the row of `to` that are not zero: what others may gain.
void Closure::look_at(Node to) {
  const std::uint64_t* there = row(to);
  for (const std::uint32_t word : gain_.words_) gain_.bits_[word] = 0;
  gain_.words_.clear();
  for (std::size_t word = 0; word < width_; ++word) {
    if (there[word] != 0) gain_.words_.push_back(static_cast<std::uint32_t>(word));
  }
  words_ += width_ / 4;
}

// Adds the row of `to` to that of `node`, saves what that changes, and leaves in gain_ what is new.
void Closure::take(Node node, Node to) {
  constexpr std::size_t kFew = 4;  // One of so many words.
  const std::size_t span = gain_.words_.back() - gain_.words_.front() + 1;
  if (gain_.words_.size() * kFew > span) return take_all_words(node, to);
  std::uint64_t* here = row(node);
  const std::uint64_t* there = row(to);
  for (const std::uint32_t word : gain_.words_) {
    const std::uint64_t gained = there[word] & ~here[word];
    gain_.bits_[word] = gained;
    if (gained == 0) continue;
    saved_.push_back({node, word, 1});
    saved_words_.push_back(here[word]);
    here[word] |= gained;
  }
  words_ += 4 * gain_.words_.size();
}

// The same where the row of `to` has few words that are zero: without looking which.
void Closure::take_all_words(Node node, Node to) {
  std::uint64_t* here = row(node);
  const std::uint64_t* there = row(to);
  std::uint64_t* gained = gain_.bits_.data();
  std::size_t first = gain_.words_.front();
  std::size_t end = gain_.words_.back() + std::size_t{1};
  for (std::size_t word = first; word < end; ++word) gained[word] = there[word] & ~here[word];
  words_ += 2 * (end - first);
  while (gained[first] == 0) ++first;  // The bit of `to` is new.
  while (gained[end - 1] == 0) --end;
  saved_.push_back(
      {node, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)});
  saved_words_.insert(saved_words_.end(), here + first, here + end);
  for (std::size_t word = first; word < end; ++word) here[word] |= gained[word];
}

void Closure::shrink(std::size_t size) {
  if (size >= added_.size()) return;
  const std::size_t keep = added_[size].saved;
  while (saved_.size() > keep) {
    const Saved& saved = saved_.back();
    const auto old = saved_words_.end() - saved.count;
    std::copy(old, saved_words_.end(), row(saved.node) + saved.first);
    saved_words_.resize(saved_words_.size() - saved.count);
    words_ += saved.count;
    saved_.pop_back();
  }
  while (added_.size() > size) {
    first_in_[added_.back().arc.to] = added_.back().next_in;
    added_.pop_back();
  }
}

std::size_t Closure::bytes() const {
  return (rows_.capacity() + saved_words_.capacity()) * sizeof(std::uint64_t) +
         saved_.capacity() * sizeof(Saved) + added_.capacity() * sizeof(Added);
}

}  // namespace ouro
