#include "stream/cold_run.h"

#include <fcntl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace ouro::stream {
namespace {

constexpr std::size_t kPage = 1024;  // Bytes. Small, since a page is read for a single key.

// At the front of each page.
struct PageHead {
  std::uint64_t sum = 0;                 // The checksum of the rest of the page.
  std::uint64_t end = sizeof(PageHead);  // Where the keys of the page end, in bytes.
};

// The checksum of a page: sums of its words and sums of these sums, so that the order counts. Four
// independent sums are computed at a time, since each addition waits for the one before. A page is
// read for a single key, so this must cost less than copying the page.
std::uint64_t sum_of(const std::byte* page) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::array<std::uint64_t, 4> sums{1, 2, 3, 4};
  std::array<std::uint64_t, 4> sums_of_sums{};
  std::array<std::uint64_t, 4> words{};
  const auto add = [&] {
    for (std::size_t i = 0; i < 4; ++i) {
      sums[i] += words[i];
      sums_of_sums[i] += sums[i];
    }
  };
  // The first word is the sum itself, so it is left out.
  std::memcpy(words.data() + 1, page + 8, 24);
  add();
  for (std::size_t at = 32; at < kPage; at += 32) {
    std::memcpy(words.data(), page + at, 32);
    add();
  }
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    all = (all ^ sums[i]) * kOdd;
    all = (all ^ all >> 32 ^ sums_of_sums[i]) * kOdd;
  }
  return all;
}

// Maps hashes to 0 … count - 1, evenly and in their order.
std::uint64_t scaled(std::uint64_t hash, std::uint64_t count) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(hash) * count >> 64);
}

std::uint32_t upper(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

// Calls `visit` with the index of a word in the filter block and a bit of it, for each probe of the
// hash, until it returns false. Returns whether it never did.
template <class Visit>
bool for_probes(std::uint64_t hash, std::uint32_t probes, const Visit& visit) {
  std::uint64_t mixed = hash * 0xd6e8feb86659fd93;
  for (std::uint32_t i = 0; i < probes; ++i, mixed <<= 9) {
    if (!visit(mixed >> 61, std::uint64_t{1} << (mixed >> 55 & 63))) return false;
  }
  return true;
}

// REQUIRES: a key begins at `bytes`.
ColdKey key_at(const std::byte* bytes) {
  ColdKey key;
  auto* const to = reinterpret_cast<std::byte*>(&key);
  std::memcpy(to, bytes, 32);
  if (key.size() > 32) std::memcpy(to + 32, bytes + 32, key.size() - 32);
  return key;
}

std::uint64_t filter_bytes(const RunInfo& info) {
  return (info.blocks * sizeof(FilterBlock) + kPage - 1) / kPage * kPage;
}

}  // namespace

// ---- writing ----

RunWriter::RunWriter(std::uint32_t number, std::uint64_t keys, double filter_bits) {
  const double bits = static_cast<double>(keys) * filter_bits;
  info_.number = number;
  info_.probes = static_cast<std::uint32_t>(std::clamp(std::lround(filter_bits * 0.69), 1L, 6L));
  info_.blocks = static_cast<std::uint64_t>(bits / (sizeof(FilterBlock) * 8)) + 1;
  // With lists, which take 64 bytes, there may be more pages.
  expect_pages(keys / ((kPage - sizeof(PageHead)) / 32) + 1);
}

Status RunWriter::open(const std::string& path) {
  return file_.open(path, O_RDWR | O_CREAT | O_TRUNC);
}

Status RunWriter::add(const ColdKey& key, std::uint64_t hash) {
  const std::size_t size = key.size();
  if (page_end_ + size > kPage) end_page();
  if (pages_.size() >= kRunBuffer && page_end_ == 0) {
    if (Status status = flush_pages(); !status.ok()) return status;
  }
  if (page_end_ == 0) {
    pages_.resize(pages_.size() + kPage);
    page_end_ = sizeof(PageHead);
    firsts_.push_back(upper(hash));
  }
  std::memcpy(pages_.data() + pages_.size() - kPage + page_end_, &key, size);
  page_end_ += size;
  ++info_.keys;
  return note(hash);
}

void RunWriter::end_page() {
  if (page_end_ == 0) return;
  char* const page = pages_.data() + pages_.size() - kPage;
  PageHead head{0, page_end_};
  std::memcpy(page, &head, sizeof(head));
  head.sum = sum_of(reinterpret_cast<const std::byte*>(page));
  std::memcpy(page, &head, sizeof(head));
  page_end_ = 0;
}

// Adds the hash to the filter.
Status RunWriter::note(std::uint64_t hash) {
  const std::uint64_t block = scaled(hash, info_.blocks);
  for (; block_ < block; ++block_) {
    filter_.push_back(std::exchange(bits_, {}));
    if (filter_.size() * sizeof(FilterBlock) < kRunBuffer) continue;
    if (Status status = flush_filter(); !status.ok()) return status;
  }
  for_probes(hash, info_.probes, [&](std::uint64_t word, std::uint64_t bit) {
    bits_[word] |= bit;
    return true;
  });
  return {};
}

Status RunWriter::flush_filter() {
  const std::size_t count = filter_.size() * sizeof(FilterBlock);
  filter_sum_.add({reinterpret_cast<const char*>(filter_.data()), count});
  if (Status status = file_.write(filter_.data(), count, filter_written_); !status.ok()) {
    return status;
  }
  filter_written_ += count;
  filter_.clear();
  return {};
}

Status RunWriter::flush_pages() {
  const std::uint64_t at = filter_bytes(info_) + pages_written_ * kPage;
  if (Status status = file_.write(pages_.data(), pages_.size(), at); !status.ok()) return status;
  pages_written_ += pages_.size() / kPage;
  pages_.clear();
  return {};
}

Result<RunInfo> RunWriter::finish() {
  end_page();
  if (Status status = flush_pages(); !status.ok()) return status.error();
  for (; block_ < info_.blocks; ++block_) filter_.push_back(std::exchange(bits_, {}));
  if (Status status = flush_filter(); !status.ok()) return status.error();
  info_.pages = pages_written_;
  const std::size_t count = firsts_.size() * sizeof(std::uint32_t);
  const std::uint64_t at = filter_bytes(info_) + info_.pages * kPage;
  if (Status status = file_.write(firsts_.data(), count, at); !status.ok()) return status.error();
  if (Status status = file_.sync(); !status.ok()) return status.error();
  info_.bytes = at + count;
  info_.filter_sum = filter_sum_.value();
  Checksum sum;
  sum.add({reinterpret_cast<const char*>(firsts_.data()), count});
  info_.index_sum = sum.value();
  return info_;
}

std::size_t RunWriter::bytes() const {
  return filter_.capacity() * sizeof(FilterBlock) + pages_.capacity() + firsts_.capacity() * 4;
}

// ---- finding ----

Result<std::unique_ptr<Run>> Run::open(const std::string& path, const RunInfo& info) {
  std::unique_ptr<Run> run(new Run(info));
  const RunFile& file = run->file_;
  if (Status status = run->file_.open(path, O_RDONLY); !status.ok()) return status.error();
  const std::size_t filter = info.blocks * sizeof(FilterBlock);
  run->filter_ = Pages(filter);
  if (Status status = file.read(run->filter_.data(), filter, 0); !status.ok()) {
    return status.error();
  }
  run->firsts_.resize(info.pages);
  const std::size_t index = info.pages * sizeof(std::uint32_t);
  if (Status status = file.read(run->firsts_.data(), index, run->page_offset(info.pages));
      !status.ok()) {
    return status.error();
  }
  Checksum filter_sum;
  filter_sum.add({reinterpret_cast<const char*>(run->filter_.data()), filter});
  Checksum index_sum;
  index_sum.add({reinterpret_cast<const char*>(run->firsts_.data()), index});
  if (filter_sum.value() != info.filter_sum || index_sum.value() != info.index_sum) {
    return file.failure("is damaged; begin without the checkpoint that needs it");
  }
  return Result<std::unique_ptr<Run>>(std::move(run));
}

std::uint64_t Run::page_offset(std::uint64_t page) const {
  return filter_bytes(info_) + page * kPage;
}

bool Run::may_have(std::uint64_t hash) const {
  if (filter_.data() == nullptr) return true;
  const auto* const block =
      reinterpret_cast<const FilterBlock*>(filter_.data()) + scaled(hash, info_.blocks);
  return for_probes(hash, info_.probes, [&](std::uint64_t word, std::uint64_t bit) {
    return ((*block)[word] & bit) != 0;
  });
}

std::size_t Run::page_of(std::uint64_t hash) const {
  const std::uint32_t first = upper(hash);
  const std::size_t guess = scaled(hash, firsts_.size());
  std::size_t low = 0;
  std::size_t high = firsts_.size();
  // Hashes are spread evenly, so the page is close to the guess; if it is not within reach, widen
  // the range.
  for (std::size_t reach = 4; reach < firsts_.size(); reach *= 4) {
    const std::size_t left = guess - std::min(guess, reach);
    const std::size_t right = std::min(firsts_.size(), guess + reach);
    const bool from = left == 0 || firsts_[left] <= first;
    const bool to = right == firsts_.size() || firsts_[right] > first;
    if (from) low = left;
    if (to) high = right;
    if (from && to) break;
  }
  const auto behind = std::upper_bound(firsts_.begin() + static_cast<std::ptrdiff_t>(low),
                                       firsts_.begin() + static_cast<std::ptrdiff_t>(high), first);
  const auto at = static_cast<std::size_t>(behind - firsts_.begin());
  return at == 0 ? 0 : at - 1;
}

Status Run::check(const std::byte* page) const {
  PageHead head;
  std::memcpy(&head, page, sizeof(head));
  if (head.sum == sum_of(page) && head.end <= kPage) return {};
  return file_.failure("is damaged; is the disk failing?");
}

std::optional<ColdKey> Run::key_in(const std::byte* page, const Name& name) {
  PageHead head;
  std::memcpy(&head, page, sizeof(head));
  for (std::size_t at = sizeof(head); at < head.end;) {
    const ColdKey key = key_at(page + at);
    if (key.name == name) return key;
    at += key.size();
  }
  return std::nullopt;
}

Status Run::find_in(std::size_t page, Wanted& wanted, std::vector<FoundKey>& found) const {
  alignas(64) std::array<std::byte, kPage> bytes;
  // Keys whose hashes have the same upper half may lie on several pages; begin with the last one.
  while (true) {
    if (Status status = file_.read(bytes.data(), kPage, page_offset(page)); !status.ok()) {
      return status;
    }
    if (Status status = check(bytes.data()); !status.ok()) return status;
    if (const auto key = key_in(bytes.data(), wanted.name)) {
      wanted.found = true;
      found.push_back({*key, wanted.number});
    }
    if (wanted.found || page == 0 || firsts_[page] != upper(wanted.hash)) return {};
    --page;
  }
}

Status Run::find(std::span<Wanted> wanted, Search& search, std::vector<FoundKey>& found) const {
  constexpr std::size_t kAhead = 8;
  const auto* const blocks = reinterpret_cast<const FilterBlock*>(filter_.data());
  search.candidates.clear();
  search.waiting.clear();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (blocks != nullptr && i + kAhead < wanted.size()) {
      __builtin_prefetch(blocks + scaled(wanted[i + kAhead].hash, info_.blocks));
    }
    if (wanted[i].found || !may_have(wanted[i].hash)) continue;
    search.candidates.push_back({0, &wanted[i]});
    __builtin_prefetch(firsts_.data() + scaled(wanted[i].hash, firsts_.size()));
  }
  alignas(64) std::array<std::byte, kPage> bytes;
  std::size_t held = firsts_.size();  // The page that is in `bytes`.
  for (Candidate& candidate : search.candidates) {
    Wanted& one = *candidate.wanted;
    candidate.page = page_of(one.hash);
    if (candidate.page != held) {
      held = firsts_.size();
      if (!file_.read_cached(bytes.data(), kPage, page_offset(candidate.page))) {
        search.waiting.push_back(candidate);
        continue;
      }
      if (Status status = check(bytes.data()); !status.ok()) return status;
      held = candidate.page;
    }
    if (const auto key = key_in(bytes.data(), one.name)) {
      one.found = true;
      found.push_back({*key, one.number});
    } else if (firsts_[candidate.page] == upper(one.hash) && candidate.page > 0) {
      search.waiting.push_back(candidate);
    }
  }
  for (const Candidate& candidate : search.waiting) {
    if (Status status = find_in(candidate.page, *candidate.wanted, found); !status.ok()) {
      return status;
    }
  }
  return {};
}

// ---- reading a whole run ----

bool Run::Cursor::next_page() {
  if (page_at_ == loaded_) {
    const std::uint64_t left = run_->info_.pages - page_;
    loaded_ = std::min<std::uint64_t>(kRunBuffer, left * kPage);
    if (loaded_ == 0) return false;
    buffer_.resize(loaded_);
    if (Status status = run_->file_.read(buffer_.data(), loaded_, run_->page_offset(page_));
        !status.ok()) {
      error_ = status.error();
      return false;
    }
    page_ += loaded_ / kPage;
    page_at_ = 0;
  }
  const std::byte* const page = buffer_.data() + page_at_;
  if (Status status = run_->check(page); !status.ok()) {
    error_ = status.error();
    return false;
  }
  PageHead head;
  std::memcpy(&head, page, sizeof(head));
  at_ = page_at_ + sizeof(head);
  end_ = page_at_ + head.end;
  page_at_ += kPage;
  return true;
}

bool Run::Cursor::next() {
  if (at_ == end_ && !next_page()) return false;
  key_ = key_at(buffer_.data() + at_);
  at_ += key_.size();
  hash_ = key_.name.hash();
  return true;
}

}  // namespace ouro::stream
