#include "graph/closure.h"

#include <algorithm>
#include <bit>
#include <span>

namespace ouro {
namespace {

// Calls f for the number of each bit that is set.
template <class F>
void for_each_bit(std::span<const std::uint64_t> words, const F& f) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::uint64_t left = words[i]; left != 0; left &= left - 1) {
      f(i * 64 + static_cast<std::size_t>(std::countr_zero(left)));
    }
  }
}

}  // namespace

Closure::Closure(const Digraph& known)
    : in_(known.reversed()),
      width_((known.node_count() + kBits - 1) / kBits),
      used_width_((width_ + kBits - 1) / kBits),
      rows_(known.node_count() * width_),
      used_(known.node_count() * used_width_),
      first_in_(known.node_count(), -1),
      visited_(known.node_count(), 0) {
  gain_.bits_.resize(width_);
  offered_.resize(width_);
  for (Node node = static_cast<Node>(known.node_count()); node-- > 0;) {
    std::uint64_t* here = row(node);
    here[node / kBits] |= std::uint64_t{1} << (node % kBits);
    for (const Node to : known.out(node)) {
      if (reaches(node, to)) continue;
      const std::uint64_t* there = row(to);
      for (std::size_t word = to / kBits; word < width_; ++word) here[word] |= there[word];
      words_ += width_ - to / kBits;
    }
    for (std::size_t word = node / kBits; word < width_; ++word) {
      if (here[word] != 0) used(node)[word / kBits] |= std::uint64_t{1} << (word % kBits);
    }
  }
}

// Finds what arc.to reaches and arc.from does not: no node gains anything else by the arc.
void Closure::look_at(Arc arc) {
  if (++visit_ == 0) {
    std::fill(visited_.begin(), visited_.end(), 0);
    visit_ = 1;
  }
  const std::uint64_t* here = row(arc.from);
  const std::uint64_t* there = row(arc.to);
  for (const std::uint32_t word : gain_.words_) gain_.bits_[word] = offered_[word] = 0;
  gain_.words_.clear();
  for_each_bit({used(arc.to), used_width_}, [&](std::size_t word) {
    const std::uint64_t offered = there[word] & ~here[word];
    if (offered == 0) return;
    offered_[word] = offered;
    gain_.words_.push_back(static_cast<std::uint32_t>(word));
    ++words_;
  });
  words_ += used_width_;
}

// Room for what a part of a row was.
std::uint64_t* Closure::save(Node node, std::size_t first, std::size_t count) {
  std::uint64_t* words = saved_.push(count + 1);
  words[count] = std::uint64_t{node} << 32 | first << 16 | count;
  ++saved_count_;
  return words;
}

// Adds what is offered to the row of `node`, saves what that changes, and leaves in gain_ what is
// new.
void Closure::take(Node node) {
  constexpr std::size_t kFew = 4;  // One of so many words.
  const std::size_t span = gain_.words_.back() - gain_.words_.front() + 1;
  if (gain_.words_.size() * kFew > span) return take_all_words(node);
  std::uint64_t* here = row(node);
  for (const std::uint32_t word : gain_.words_) {
    const std::uint64_t gained = offered_[word] & ~here[word];
    gain_.bits_[word] = gained;
    if (gained == 0) continue;
    *save(node, word, 1) = here[word];
    here[word] |= gained;
    used(node)[word / kBits] |= std::uint64_t{1} << (word % kBits);
  }
  words_ += 4 * gain_.words_.size();
}

// The same where few words in between are not offered: without looking which.
void Closure::take_all_words(Node node) {
  std::uint64_t* here = row(node);
  std::uint64_t* gained = gain_.bits_.data();
  std::size_t first = gain_.words_.front();
  std::size_t end = gain_.words_.back() + std::size_t{1};
  for (std::size_t word = first; word < end; ++word) gained[word] = offered_[word] & ~here[word];
  words_ += 2 * (end - first);
  while (gained[first] == 0) ++first;  // The bit of arc.to is new.
  while (gained[end - 1] == 0) --end;
  std::uint64_t* old = save(node, first, end - first);
  for (std::size_t word = first; word < end; ++word) {
    *old++ = here[word];
    here[word] |= gained[word];
    const std::uint64_t not_zero = here[word] != 0 ? 1 : 0;
    used(node)[word / kBits] |= not_zero << (word % kBits);
  }
}

// Undoes what was saved last.
void Closure::put_back() {
  const std::uint64_t head = saved_.last();
  const std::size_t count = head & 0xffff;
  const std::size_t first = head >> 16 & 0xffff;
  const auto node = static_cast<Node>(head >> 32);
  const std::uint64_t* old = saved_.pop(count + 1);
  std::uint64_t* here = row(node);
  for (std::size_t word = first; word < first + count; ++word) {
    here[word] = *old++;
    const std::uint64_t zero = here[word] == 0 ? 1 : 0;
    used(node)[word / kBits] &= ~(zero << (word % kBits));
  }
  words_ += count;
  --saved_count_;
}

void Closure::shrink(std::size_t size) {
  if (size >= added_.size()) return;
  const std::size_t keep = added_[size].saved;
  while (saved_count_ > keep) put_back();
  while (added_.size() > size) {
    first_in_[added_.back().arc.to] = added_.back().next_in;
    added_.pop_back();
  }
}

std::size_t Closure::bytes() const {
  return (rows_.capacity() + used_.capacity()) * sizeof(std::uint64_t) + saved_.bytes() +
         added_.capacity() * sizeof(Added);
}

}  // namespace ouro
