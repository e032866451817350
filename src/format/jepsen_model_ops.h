// Turns a line of a model whose values are no micro-operations into operations.
#pragma once

#include <string>
#include <string_view>

#include "format/jepsen_entries.h"

namespace ouro {

class JepsenModelOps {
 public:
  // Adds operations to `entries` and facts to `entry`, whose type is known.
  JepsenModelOps(HistoryBuilder& builder, JepsenModel model, JepsenEntries& entries,
                 JepsenEntry& entry)
      : b_(builder), model_(model), entries_(entries), entry_(entry) {}

  // Adds the operations of a line. Returns what is wrong with it, or "".
  [[nodiscard]] std::string_view add(std::string_view f, const JepsenTree& value);
  // The name of a subkey of the sequential model.
  [[nodiscard]] static std::string subkey(std::string_view key, std::size_t number);

 private:
  std::string_view object(std::string_view f, const JepsenTree& value);
  std::string_view bank(std::string_view f, const JepsenTree& value);
  std::string_view mutex(std::string_view f);
  std::string_view sequential(std::string_view f, const JepsenTree& value);
  std::string_view read_set(Value key, const JepsenTree& elements);
  void push(MicroOp::Kind kind, Value key, Value value);
  // An integer or a text; nothing else is true.
  bool scalar(const JepsenTree& tree, Value& out);
  [[nodiscard]] bool is_ok() const { return entry_.type == JepsenType::Ok; }

  HistoryBuilder& b_;
  const JepsenModel model_;
  JepsenEntries& entries_;
  JepsenEntry& entry_;
};

}  // namespace ouro
