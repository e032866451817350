// Reads a stream of tables.

#include "c/arrow_stream.h"

#include <fmt/format.h>

#include <cstring>

#include "c/arrow_rows.h"
#include "c/handles.h"

namespace ouro::c {
namespace {

// Releases what Arrow's producers gave, on every way out.
template <class T>
class Released {
 public:
  Released() { std::memset(&value_, 0, sizeof(value_)); }
  ~Released() { release(); }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

  [[nodiscard]] T* get() { return &value_; }
  [[nodiscard]] bool is_there() const { return value_.release != nullptr; }
  void release() {
    if (value_.release != nullptr) value_.release(&value_);
    value_.release = nullptr;
  }

 private:
  T value_;
};

Error stream_error(ArrowArrayStream& stream, int code) {
  const char* said = stream.get_last_error(&stream);
  return error_saying(fmt::format("the table cannot be read: {}",
                                  said != nullptr && *said != 0 ? said : std::strerror(code)));
}

}  // namespace

Status add_arrow(ArrowArrayStream& stream, HistoryBuilder& builder) {
  Released<ArrowSchema> schema;
  if (const int code = stream.get_schema(&stream, schema.get()); code != 0) {
    return stream_error(stream, code);
  }
  ArrowRows rows(builder);
  for (;;) {
    Released<ArrowArray> batch;
    if (const int code = stream.get_next(&stream, batch.get()); code != 0) {
      return stream_error(stream, code);
    }
    if (!batch.is_there()) return {};
    if (Status status = rows.add(*schema.get(), *batch.get()); !status.ok()) return status;
  }
}

}  // namespace ouro::c
