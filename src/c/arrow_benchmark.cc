// How fast tables of Apache Arrow become histories through the C interface: 1M transactions of 4
// operations, 50 sessions, 10k keys, in one batch of columns. Arrow itself is not needed.

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "c/arrow.h"
#include "ouro/c.h"

namespace ouro::c {
namespace {

constexpr std::size_t kTxns = 1'000'000;
constexpr std::size_t kOps = 4;
constexpr std::size_t kRows = kTxns * kOps;

// A table as its columns and what the interface wants to know of them.
class ArrowTable {
 public:
  ArrowTable() {
    texts_.reserve(kRows);
    ends_.reserve(kRows + 1);
    ends_.push_back(0);
    for (std::size_t row = 0; row < kRows; ++row) {
      const std::size_t txn = row / kOps;
      numbers_[0].push_back(static_cast<std::int64_t>(txn % 50));
      numbers_[1].push_back(static_cast<std::int64_t>(txn));
      numbers_[2].push_back(static_cast<std::int64_t>(row * 7919 % 10'007));
      texts_ += row % kOps < kOps / 2 ? 'r' : 'w';
      ends_.push_back(static_cast<std::int32_t>(row + 1));
      numbers_[3].push_back(static_cast<std::int64_t>(row));
    }
    add(0, "session", "l", {nullptr, numbers_[0].data()});
    add(1, "txn", "l", {nullptr, numbers_[1].data()});
    add(2, "key", "l", {nullptr, numbers_[2].data()});
    add(3, "op", "u", {nullptr, ends_.data(), texts_.data()});
    add(4, "value", "l", {nullptr, numbers_[3].data()});
  }
  ArrowTable(const ArrowTable&) = delete;
  ArrowTable& operator=(const ArrowTable&) = delete;

  // A stream of the whole table, which must outlive it.
  ArrowArrayStream stream() {
    sent_ = false;
    ArrowArrayStream out{};
    out.get_schema = [](ArrowArrayStream* self, ArrowSchema* schema) {
      of(self).describe(*schema);
      return 0;
    };
    out.get_next = [](ArrowArrayStream* self, ArrowArray* array) {
      of(self).send(*array);
      return 0;
    };
    out.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
    out.release = [](ArrowArrayStream* self) { self->release = nullptr; };
    out.private_data = this;
    return out;
  }

 private:
  static constexpr std::size_t kColumns = 5;

  static ArrowTable& of(ArrowArrayStream* stream) {
    return *static_cast<ArrowTable*>(stream->private_data);
  }

  void add(std::size_t column, const char* name, const char* format,
           std::vector<const void*> buffers) {
    buffers_[column] = std::move(buffers);
    schemas_[column] = {};
    schemas_[column].format = format;
    schemas_[column].name = name;
    schemas_[column].release = [](ArrowSchema* self) { self->release = nullptr; };
    arrays_[column] = {};
    arrays_[column].length = static_cast<std::int64_t>(kRows);
    arrays_[column].n_buffers = static_cast<std::int64_t>(buffers_[column].size());
    arrays_[column].buffers = buffers_[column].data();
    schema_pointers_[column] = &schemas_[column];
    array_pointers_[column] = &arrays_[column];
  }

  void describe(ArrowSchema& out) {
    out = {};
    out.format = "+s";
    out.name = "";
    out.n_children = kColumns;
    out.children = schema_pointers_.data();
    out.release = [](ArrowSchema* self) { self->release = nullptr; };
    for (ArrowSchema& child : schemas_) child.release = out.release;
  }

  // The first time the table, then the end.
  void send(ArrowArray& out) {
    out = {};
    if (sent_) return;
    sent_ = true;
    out.length = static_cast<std::int64_t>(kRows);
    out.n_buffers = 1;
    out.n_children = kColumns;
    out.buffers = &no_buffer_;
    out.children = array_pointers_.data();
    out.release = [](ArrowArray* self) { self->release = nullptr; };
    for (ArrowArray& child : arrays_) child.release = out.release;
  }

  std::array<std::vector<std::int64_t>, 4> numbers_;
  std::string texts_;
  std::vector<std::int32_t> ends_;
  std::array<std::vector<const void*>, kColumns> buffers_;
  std::array<ArrowSchema, kColumns> schemas_{};
  std::array<ArrowArray, kColumns> arrays_{};
  std::array<ArrowSchema*, kColumns> schema_pointers_{};
  std::array<ArrowArray*, kColumns> array_pointers_{};
  const void* no_buffer_ = nullptr;
  bool sent_ = false;
};

// The history; null if it is not the one that the table says.
ouro_history* load(ArrowTable& table) {
  ouro_builder* builder = ouro_builder_new(nullptr);
  ArrowArrayStream stream = table.stream();
  ouro_builder_arrow(builder, &stream);
  ouro_history* history = ouro_builder_finish(builder, nullptr);
  if (history == nullptr) return nullptr;
  if (ouro_history_transactions(history) == kTxns && ouro_history_operations(history) == kRows) {
    return history;
  }
  ouro_history_free(history);
  return nullptr;
}

void BM_LoadArrow(benchmark::State& state) {
  ArrowTable table;
  for (auto _ : state) {
    ouro_history* history = load(table);
    if (history == nullptr) return state.SkipWithError("not the history of the table");
    state.PauseTiming();
    ouro_history_free(history);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kTxns));
}
BENCHMARK(BM_LoadArrow)->Iterations(5)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ouro::c
