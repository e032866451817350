// The lines of a Jepsen history, before invocations and completions are paired.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/jepsen_model.h"
#include "format/token.h"
#include "ouro/history_builder.h"

namespace ouro {

enum class JepsenType : std::uint8_t { None, Invoke, Ok, Fail, Info };

// One operation of a :value.
struct MicroOp {
  // WriteAll writes all subkeys of a key, one after the other: only reads tell how many there are.
  enum class Kind : std::uint8_t { Read, Write, Append, Cas, Inc, Add, ReadSet, WriteAll };
  enum class Result : std::uint8_t { Missing, Nil, Scalar, List };

  Kind kind = Kind::Read;
  Result result = Result::Missing;  // What `value` is.
  std::uint32_t element_count = 0;  // For List.
  Value key;
  Value value;    // For List, its bits are the index of the first in JepsenEntries::elements.
  Value desired;  // What a Cas writes; `value` is what it expects.
};

// One line of a client.
struct JepsenEntry {
  JepsenType type = JepsenType::None;
  bool has_process = false;
  bool has_ops = false;    // :value has operations.
  bool is_cas = false;     // :f is :cas. A :fail without :error says that it found something else.
  bool has_error = false;  // There is an :error.
  bool apart = false;      // Its operations are transactions of their own, one after the other.
  bool has_index = false;  // There is an :index, though maybe nil.
  bool transfers = false;  // Of the bank model: it is no read.
  std::int64_t process = 0;
  std::int64_t time = kNoClock;
  std::int64_t index = kNoClock;
  std::uint64_t line = 0;
  std::uint64_t place = 0;  // In the history, from 0; lines of others than clients count.
  std::uint64_t begin = 0;  // Of its map, in bytes before the end of the source,
  std::uint64_t end = 0;    // and where that ends, likewise.
  std::uint64_t first_op = 0;  // Index into JepsenEntries::ops.
  std::uint32_t op_count = 0;
};

struct JepsenEntries {
  std::vector<JepsenEntry> clients;  // Lines of clients, in order.
  std::vector<MicroOp> ops;
  std::vector<Value> elements;
  std::uint64_t ignored = 0;  // How many lines are not of clients.
  std::size_t subkeys = 0;    // Of the sequential model: how many each key has.
};

// Reads all of `tokens`. Keys and values are interned in `builder`; nothing else is added to it.
Result<JepsenEntries> read_jepsen_entries(TokenReader& tokens, HistoryBuilder& builder,
                                          JepsenModel model);

}  // namespace ouro
