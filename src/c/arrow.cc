#include "c/arrow.h"

#include <fmt/format.h>

namespace ouro::c {
namespace {

struct ArrowFormat {
  std::string_view format;
  ArrowType type;
  std::uint8_t bytes;
};

// The formats that are read. Timestamps, durations and times of day are counted in integers.
constexpr ArrowFormat kFormats[] = {
    {"n", ArrowType::Null, 0},     {"b", ArrowType::Boolean, 0},  {"c", ArrowType::Signed, 1},
    {"s", ArrowType::Signed, 2},   {"i", ArrowType::Signed, 4},   {"l", ArrowType::Signed, 8},
    {"C", ArrowType::Unsigned, 1}, {"S", ArrowType::Unsigned, 2}, {"I", ArrowType::Unsigned, 4},
    {"L", ArrowType::Unsigned, 8}, {"f", ArrowType::Float, 4},    {"g", ArrowType::Float, 8},
    {"u", ArrowType::Text, 4},     {"U", ArrowType::Text, 8},     {"+l", ArrowType::List, 4},
    {"+L", ArrowType::List, 8},    {"ttu", ArrowType::Signed, 8}, {"ttn", ArrowType::Signed, 8},
};

const ArrowFormat* find_arrow_format(std::string_view format) {
  for (const ArrowFormat& known : kFormats) {
    if (known.format == format) return &known;
  }
  static constexpr ArrowFormat kInstant{"", ArrowType::Signed, 8};
  return format.starts_with("ts") || format.starts_with("tD") ? &kInstant : nullptr;
}

std::string_view name_of_column(const ArrowSchema& schema) {
  return schema.name == nullptr ? "" : schema.name;
}

Error wrong_column(const ArrowSchema& schema, std::string what) {
  Error error;
  error.what = fmt::format("column '{}': {}", name_of_column(schema), what);
  return error;
}

std::int64_t buffers_of(ArrowType type) {
  return type == ArrowType::Null ? 0 : type == ArrowType::Text ? 3 : 2;
}

}  // namespace

Result<ArrowColumn> ArrowColumn::open(const ArrowSchema& schema, const ArrowArray& array) {
  const ArrowFormat* format = find_arrow_format(schema.format);
  if (format == nullptr) {
    return wrong_column(
        schema, fmt::format("type '{}' is not read; cast it to an integer, a float, a boolean, a "
                            "text (string), a list or a dictionary of these",
                            schema.format));
  }
  ArrowColumn out;
  out.array_ = &array;
  out.type_ = format->type;
  out.bytes_ = format->bytes;
  if (array.n_buffers < buffers_of(out.type_) || array.length < 0 || array.offset < 0) {
    return wrong_column(schema, "has fewer buffers than its type needs");
  }
  if (schema.dictionary != nullptr) {
    if (array.dictionary == nullptr ||
        (out.type_ != ArrowType::Signed && out.type_ != ArrowType::Unsigned)) {
      return wrong_column(schema, "is a dictionary without items");
    }
    auto items = open(*schema.dictionary, *array.dictionary);
    if (!items.ok()) return wrong_column(schema, items.error().what);
    if (items->dictionary_ != nullptr || items->type_ == ArrowType::List) {
      return wrong_column(schema, "is a dictionary of lists or dictionaries; cast it");
    }
    out.dictionary_ = std::make_shared<const ArrowColumn>(*std::move(items));
  }
  if (out.type_ == ArrowType::List) {
    if (schema.n_children != 1 || array.n_children != 1) {
      return wrong_column(schema, "is a list without items");
    }
    auto items = open(*schema.children[0], *array.children[0]);
    if (!items.ok()) return wrong_column(schema, items.error().what);
    if (items->type_ == ArrowType::List) return wrong_column(schema, "is a list of lists");
    out.items_ = std::make_shared<const ArrowColumn>(*std::move(items));
  }
  return out;
}

bool ArrowColumn::is_null(std::int64_t row) const {
  if (type_ == ArrowType::Null) return true;
  if (array_->null_count == 0 || array_->buffers[0] == nullptr) return false;
  const std::int64_t bit = row + array_->offset;
  return (static_cast<const std::uint8_t*>(array_->buffers[0])[bit / 8] >> (bit % 8) & 1) == 0;
}

std::int64_t ArrowColumn::integer(std::int64_t row) const {
  switch (bytes_) {
    case 1:
      return at<std::int8_t>(1, row);
    case 2:
      return at<std::int16_t>(1, row);
    case 4:
      return at<std::int32_t>(1, row);
    default:
      return at<std::int64_t>(1, row);
  }
}

std::uint64_t ArrowColumn::natural(std::int64_t row) const {
  switch (bytes_) {
    case 1:
      return at<std::uint8_t>(1, row);
    case 2:
      return at<std::uint16_t>(1, row);
    case 4:
      return at<std::uint32_t>(1, row);
    default:
      return at<std::uint64_t>(1, row);
  }
}

double ArrowColumn::floating(std::int64_t row) const {
  return bytes_ == 4 ? static_cast<double>(at<float>(1, row)) : at<double>(1, row);
}

bool ArrowColumn::boolean(std::int64_t row) const {
  const std::int64_t bit = row + array_->offset;
  return (static_cast<const std::uint8_t*>(array_->buffers[1])[bit / 8] >> (bit % 8) & 1) != 0;
}

std::string_view ArrowColumn::text(std::int64_t row) const {
  const Range bytes = range(row);
  const auto* all = static_cast<const char*>(array_->buffers[2]);
  if (bytes.end <= bytes.begin) return {};
  return {all + bytes.begin, static_cast<std::size_t>(bytes.end - bytes.begin)};
}

ArrowColumn::Range ArrowColumn::range(std::int64_t row) const {
  if (bytes_ == 4) return {at<std::int32_t>(1, row), at<std::int32_t>(1, row + 1)};
  return {at<std::int64_t>(1, row), at<std::int64_t>(1, row + 1)};
}

std::optional<std::int64_t> ArrowColumn::index(std::int64_t row) const {
  const std::int64_t number =
      type_ == ArrowType::Signed ? integer(row) : static_cast<std::int64_t>(natural(row));
  if (number < 0 || number >= dictionary_->length()) return std::nullopt;
  return number;
}

}  // namespace ouro::c
