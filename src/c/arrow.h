// Columns of Apache Arrow's C data interface, as a reader sees them.
//
// The structures are those of the interface (arrow.apache.org, "C data interface" and "C stream
// interface"), which never change; so Arrow itself is not needed.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ouro/result.h"

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace ouro::c {

// What a column holds, as far as histories need it.
enum class ArrowType : std::uint8_t { Null, Boolean, Signed, Unsigned, Float, Text, List };

// One column of a batch. REQUIRES, of all that ask for an item: 0 <= row < length().
class ArrowColumn {
 public:
  // The error is a type that is not read; it names the column. `schema` and `array` must outlive
  // the column.
  static Result<ArrowColumn> open(const ArrowSchema& schema, const ArrowArray& array);

  [[nodiscard]] std::int64_t length() const { return array_->length; }
  // Of a dictionary: the type of its items.
  [[nodiscard]] ArrowType type() const { return dictionary_ ? dictionary_->type_ : type_; }
  [[nodiscard]] bool is_null(std::int64_t row) const;

  // Of a dictionary: its items, and which of them a row has; the number is checked.
  [[nodiscard]] const ArrowColumn* dictionary() const { return dictionary_.get(); }
  [[nodiscard]] std::optional<std::int64_t> index(std::int64_t row) const;

  // REQUIRES: the column is no dictionary, the item is not null and the type is right. Signed:
  [[nodiscard]] std::int64_t integer(std::int64_t row) const;
  [[nodiscard]] std::uint64_t natural(std::int64_t row) const;  // Unsigned.
  [[nodiscard]] double floating(std::int64_t row) const;        // Float.
  [[nodiscard]] bool boolean(std::int64_t row) const;           // Boolean.
  [[nodiscard]] std::string_view text(std::int64_t row) const;  // Text.
  // List: the items, and the rows of them that belong to `row`.
  [[nodiscard]] const ArrowColumn& items() const { return *items_; }
  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  [[nodiscard]] Range range(std::int64_t row) const;

 private:
  template <class T>
  [[nodiscard]] T at(int buffer, std::int64_t row) const {
    T out;  // What others made need not be aligned.
    std::memcpy(&out,
                static_cast<const char*>(array_->buffers[buffer]) +
                    (row + array_->offset) * static_cast<std::int64_t>(sizeof(T)),
                sizeof(T));
    return out;
  }

  const ArrowArray* array_ = nullptr;
  ArrowType type_ = ArrowType::Null;
  std::uint8_t bytes_ = 0;  // Of a number, of an offset.
  std::shared_ptr<const ArrowColumn> dictionary_;
  std::shared_ptr<const ArrowColumn> items_;
};

}  // namespace ouro::c
