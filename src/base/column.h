// A growable array of plain values for columns of millions of entries. Its functions do what those
// of std::vector do.
//
// std::vector copies into a second block when it grows, so its peak is three times its content;
// realloc lets the kernel move the pages of a large block instead.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace ouro {

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Column() = default;
  ~Column() { std::free(data_); }
  Column(Column&& other) noexcept { swap(other); }
  Column& operator=(Column&& other) noexcept {
    swap(other);
    return *this;
  }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] T& back() { return data_[size_ - 1]; }
  [[nodiscard]] T* begin() { return data_; }
  [[nodiscard]] T* end() { return data_ + size_; }
  [[nodiscard]] const T* begin() const { return data_; }
  [[nodiscard]] const T* end() const { return data_ + size_; }
  [[nodiscard]] std::span<const T> span() const { return {data_, size_}; }

  void push_back(const T& value) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = value;
  }
  void append(std::span<const T> values) {
    if (values.empty()) return;
    T* to = extend(values.size());
    std::memcpy(static_cast<void*>(to), values.data(), values.size_bytes());
  }
  // Adds `count` uninitialised entries and returns the first.
  T* extend(std::size_t count) {
    if (size_ + count > capacity_) grow(size_ + count);
    size_ += count;
    return data_ + size_ - count;
  }
  void resize(std::size_t count, const T& fill) {
    const std::size_t old = size_;
    if (count > capacity_) grow(count);
    size_ = count;
    for (std::size_t i = old; i < count; ++i) data_[i] = fill;
  }
  void clear() { size_ = 0; }
  // REQUIRES: count <= size().
  void truncate(std::size_t count) { size_ = count; }
  // Gives unused capacity back.
  void shrink() {
    if (size_ != 0 && size_ < capacity_) reallocate(size_);
  }

 private:
  void grow(std::size_t at_least) {
    std::size_t capacity = capacity_ < 16 ? 16 : capacity_ + capacity_ / 2;
    if (capacity < at_least) capacity = at_least;
    reallocate(capacity);
  }
  void reallocate(std::size_t capacity) {
    void* data = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (data == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(data);
    capacity_ = capacity;
  }
  void swap(Column& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace ouro
