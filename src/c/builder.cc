// Builds histories value by value, or from native JSON.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "c/arrow_stream.h"
#include "c/handles.h"
#include "c/values.h"
#include "format/blocks.h"
#include "format/native_text.h"
#include "format/native_text_line.h"

namespace ouro::c {
namespace {

constexpr const char* kName = "history";  // What messages call the history that is built.

// Does `add` unless something is wrong already, and remembers if it is then.
template <class Add>
int added(ouro_builder* builder, const Add& add) noexcept {
  if (builder == nullptr || builder->wrong) return -1;
  ouro_error* thrown = nullptr;
  const int done = guarded(&thrown, -1, [&] {
    Status status = add(builder->builder);
    if (status.ok()) return 0;
    builder->wrong = status.error();
    return -1;
  });
  if (thrown == nullptr) return done;
  builder->wrong = error_saying({});
  // Without memory the error is one for all, which keeps its text.
  if (thrown->kind != OURO_ERROR_MEMORY) std::swap(builder->wrong->what, thrown->text);
  builder->kind = thrown->kind;
  ouro_error_free(thrown);
  return -1;
}

// The same for what is about a transaction.
template <class Add>
int added_to_txn(ouro_builder* builder, const Add& add) noexcept {
  return added(builder, [&](HistoryBuilder& b) -> Status {
    if (!builder->begun) return error_saying("no transaction was begun; call ouro_builder_begin()");
    return add(b);
  });
}

// The same for an operation with a key and one value.
template <class Add>
int added_op(ouro_builder* builder, const ouro_value& key, const ouro_value& value,
             const Add& add) noexcept {
  return added_to_txn(builder, [&](HistoryBuilder& b) -> Status {
    const Result<Value> name = name_of(b, key, "a key");
    if (!name.ok()) return name.error();
    const Result<Value> content = value_of(b, value);
    if (!content.ok()) return content.error();
    return add(b, b.key(*name), *content);
  });
}

Status check_clock(std::int64_t earlier, std::int64_t later) {
  if (earlier == kNoClock || later == kNoClock || earlier <= later) return {};
  return error_saying(fmt::format("a clock goes back from {} to {}", earlier, later));
}

Status set_status(HistoryBuilder& b, int status) {
  switch (status) {
    case OURO_COMMITTED:
      b.status(TxnStatus::Committed);
      return {};
    case OURO_ABORTED:
      b.status(TxnStatus::Aborted);
      return {};
    case OURO_UNKNOWN:
      b.status(TxnStatus::Unknown);
      return {};
    default:
      return error_saying(fmt::format(
          "{} is no status; there are: OURO_COMMITTED, OURO_ABORTED, OURO_UNKNOWN", status));
  }
}

Status set_level(HistoryBuilder& b, std::string_view name) {
  const auto level = find_level(name);
  if (!level || *level == Level::Mixed) {
    return error_saying(fmt::format("a transaction cannot state level '{}'", name));
  }
  b.level(*level);
  return {};
}

std::string padded(std::string_view text) {
  std::string copy;
  copy.reserve(text.size() + Input::kPadding);
  copy.append(text);
  return copy;  // Moved, with what was reserved.
}

}  // namespace
}  // namespace ouro::c

using ouro::HistoryBuilder;
using ouro::KeyId;
using ouro::Status;
using ouro::Value;

extern "C" {

ouro_builder* ouro_builder_new(ouro_error** error) {
  return ouro::c::guarded(error, static_cast<ouro_builder*>(nullptr),
                          [] { return new ouro_builder; });
}

void ouro_builder_free(ouro_builder* builder) { delete builder; }

ouro_history* ouro_builder_finish(ouro_builder* builder, ouro_error** error) {
  if (builder == nullptr) return nullptr;
  const std::unique_ptr<ouro_builder> owned(builder);
  if (builder->wrong) {
    ouro::c::tell(error, builder->kind, *std::move(builder->wrong));
    return nullptr;
  }
  return ouro::c::guarded(error, static_cast<ouro_history*>(nullptr), [&]() -> ouro_history* {
    auto history = std::move(builder->builder).freeze();
    if (!history.ok()) {
      ouro::c::tell(error, OURO_ERROR_INPUT, history.error());
      return nullptr;
    }
    return new ouro_history{*std::move(history), ouro::c::kName, {}};
  });
}

int ouro_builder_begin(ouro_builder* builder, ouro_value session) {
  return ouro::c::added(builder, [&](HistoryBuilder& b) -> Status {
    const auto name = ouro::c::name_of(b, session, "a session");
    if (!name.ok()) return name.error();
    b.begin_txn(b.session(*name));
    builder->begun = true;
    return {};
  });
}

int ouro_builder_status(ouro_builder* builder, int status) {
  return ouro::c::added_to_txn(builder,
                               [&](HistoryBuilder& b) { return ouro::c::set_status(b, status); });
}

int ouro_builder_id(ouro_builder* builder, ouro_value id) {
  return ouro::c::added_to_txn(builder, [&](HistoryBuilder& b) -> Status {
    const auto name = ouro::c::name_of(b, id, "an id");
    if (!name.ok()) return name.error();
    b.name(*name);
    return {};
  });
}

int ouro_builder_level(ouro_builder* builder, const char* level) {
  return ouro::c::added_to_txn(builder, [&](HistoryBuilder& b) -> Status {
    if (level == nullptr) return ouro::c::error_saying("the level is missing");
    return ouro::c::set_level(b, level);
  });
}

int ouro_builder_clocks(ouro_builder* builder, int64_t invoked, int64_t completed) {
  return ouro::c::added_to_txn(builder, [&](HistoryBuilder& b) {
    b.clocks(invoked, completed);
    return ouro::c::check_clock(invoked, completed);
  });
}

int ouro_builder_inner_clocks(ouro_builder* builder, int64_t began, int64_t committing) {
  return ouro::c::added_to_txn(builder, [&](HistoryBuilder& b) {
    b.inner_clocks(began, committing);
    return ouro::c::check_clock(began, committing);
  });
}

int ouro_builder_timestamps(ouro_builder* builder, int64_t start, int64_t start_logical,
                            int64_t commit, int64_t commit_logical) {
  return ouro::c::added_to_txn(builder, [&](HistoryBuilder& b) -> Status {
    const auto timestamp = [](int64_t physical, int64_t logical) {
      return physical == OURO_NO_CLOCK ? ouro::kNoTimestamp : ouro::Timestamp{physical, logical};
    };
    b.timestamps(timestamp(start, start_logical), timestamp(commit, commit_logical));
    return {};
  });
}

int ouro_builder_read(ouro_builder* builder, ouro_value key, ouro_value value) {
  return ouro::c::added_op(builder, key, value, [](HistoryBuilder& b, KeyId k, Value v) -> Status {
    b.read(k, v);
    return {};
  });
}

int ouro_builder_write(ouro_builder* builder, ouro_value key, ouro_value value) {
  return ouro::c::added_op(builder, key, value, [](HistoryBuilder& b, KeyId k, Value v) -> Status {
    if (v.is_unobserved()) {
      return ouro::c::error_saying("a write without a value; null deletes");
    }
    b.write(k, v);
    return {};
  });
}

int ouro_builder_append(ouro_builder* builder, ouro_value key, ouro_value element) {
  return ouro::c::added_op(builder, key, element,
                           [](HistoryBuilder& b, KeyId k, Value v) -> Status {
                             if (v.is_unobserved()) {
                               return ouro::c::error_saying("an append without an element");
                             }
                             b.append(k, v);
                             return {};
                           });
}

int ouro_builder_read_list(ouro_builder* builder, ouro_value key, const ouro_value* elements,
                           size_t count) {
  return ouro::c::added_to_txn(builder, [&](HistoryBuilder& b) -> Status {
    if (elements == nullptr && count != 0) return ouro::c::error_saying("the elements are missing");
    const auto name = ouro::c::name_of(b, key, "a key");
    if (!name.ok()) return name.error();
    std::vector<Value> values;
    for (size_t i = 0; i < count; ++i) {
      const auto value = ouro::c::value_of(b, elements[i]);
      if (!value.ok()) return value.error();
      if (value->is_unobserved()) return ouro::c::error_saying("an element without a value");
      values.push_back(*value);
    }
    b.read_list(b.key(*name), values);
    return {};
  });
}

int ouro_builder_delete(ouro_builder* builder, ouro_value key, ouro_value tombstone) {
  return ouro::c::added_op(builder, key, tombstone,
                           [](HistoryBuilder& b, KeyId k, Value v) -> Status {
                             if (v.is_unobserved()) v = Value::null();
                             b.remove(k, v);
                             return {};
                           });
}

int ouro_builder_cas(ouro_builder* builder, ouro_value key, ouro_value expected, ouro_value desired,
                     int succeeded) {
  return ouro::c::added_op(builder, key, expected,
                           [&](HistoryBuilder& b, KeyId k, Value v) -> Status {
                             const auto to_write = ouro::c::value_of(b, desired);
                             if (!to_write.ok()) return to_write.error();
                             if (v.is_unobserved() || to_write->is_unobserved()) {
                               return ouro::c::error_saying("a compare-and-set without a value");
                             }
                             b.cas(k, v, *to_write, succeeded != 0);
                             return {};
                           });
}

int ouro_builder_operations(ouro_builder* builder, const char* json, size_t length) {
  return ouro::c::added_to_txn(builder, [&](HistoryBuilder& b) {
    const std::string text = ouro::c::padded(ouro::c::view(json, length));
    ouro::NativeLineParser parser(b, ouro::c::kName,
                                  text.data() + text.size() + ouro::Input::kPadding);
    return parser.parse_ops(text);
  });
}

int ouro_builder_initial(ouro_builder* builder, ouro_value value) {
  return ouro::c::added(builder, [&](HistoryBuilder& b) -> Status {
    const auto content = ouro::c::value_of(b, value);
    if (!content.ok()) return content.error();
    if (content->is_unobserved()) return ouro::c::error_saying("an initial value that is none");
    b.default_initial(*content);
    return {};
  });
}

int ouro_builder_initial_of(ouro_builder* builder, ouro_value key, ouro_value value) {
  return ouro::c::added(builder, [&](HistoryBuilder& b) -> Status {
    const auto name = ouro::c::name_of(b, key, "a key");
    if (!name.ok()) return name.error();
    const auto content = ouro::c::value_of(b, value);
    if (!content.ok()) return content.error();
    if (content->is_unobserved()) return ouro::c::error_saying("an initial value that is none");
    b.initial(b.key(*name), *content);
    return {};
  });
}

int ouro_builder_lines(ouro_builder* builder, const char* lines, size_t length) {
  return ouro::c::added(builder, [&](HistoryBuilder& b) -> Status {
    if (lines == nullptr && length != 0) return ouro::c::error_saying("the lines are missing");
    const std::string_view text = ouro::c::view(lines, length);
    const std::size_t txns = b.txn_count();
    const ouro::Block block{ouro::c::padded(text), builder->line, 1, 0, true};
    Status status = ouro::parse_native_lines(block, ouro::c::kName, b);
    builder->line += static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    if (!text.empty() && text.back() != '\n') ++builder->line;
    builder->begun = builder->begun || b.txn_count() != txns;
    return status;
  });
}

int ouro_builder_arrow(ouro_builder* builder, struct ArrowArrayStream* stream) {
  if (stream == nullptr) {
    return ouro::c::added(builder, [](HistoryBuilder&) -> Status {
      return ouro::c::error_saying("the table is missing");
    });
  }
  const int done = ouro::c::added(builder, [&](HistoryBuilder& b) -> Status {
    const std::size_t txns = b.txn_count();
    Status status = ouro::c::add_arrow(*stream, b);
    builder->begun = builder->begun || b.txn_count() != txns;
    return status;
  });
  if (stream->release != nullptr) stream->release(stream);
  return done;
}
}
