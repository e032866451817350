// The lines of a Jepsen history, before invocations and completions are paired.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/token.h"
#include "ouro/history_builder.h"

namespace ouro {

enum class JepsenType : std::uint8_t { None, Invoke, Ok, Fail, Info };

struct MicroOp {
  enum class Kind : std::uint8_t { Read, Write, Append, Cas };
  enum class Result : std::uint8_t { Missing, Nil, Scalar, List };

  Kind kind = Kind::Read;
  Result result = Result::Missing;
  std::uint32_t element_count = 0;  // List.
  Value key;
  Value value;    // Scalar. List: the first element's place in JepsenEntries::elements.
  Value desired;  // Of a compare-and-set, which expects `value`.
};

struct JepsenEntry {
  JepsenType type = JepsenType::None;
  bool has_process = false;
  bool has_ops = false;
  bool is_cas = false;     // One compare-and-set, no transaction: failing may be its answer.
  bool has_error = false;  // Then it is not.
  std::int64_t process = 0;
  std::int64_t time = kNoClock;
  std::int64_t index = kNoClock;
  std::uint64_t line = 0;
  std::uint64_t first_op = 0;  // Into JepsenEntries::ops.
  std::uint32_t op_count = 0;
};

struct JepsenEntries {
  std::vector<JepsenEntry> clients;  // Lines of clients, in order.
  std::vector<MicroOp> ops;
  std::vector<Value> elements;
  std::uint64_t ignored = 0;  // Lines of others.
};

// Reads all of `tokens`; values go to `builder`.
Result<JepsenEntries> read_jepsen_entries(TokenReader& tokens, HistoryBuilder& builder);

}  // namespace ouro
