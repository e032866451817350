// One JSON value as a tree, for small texts whose members are asked for by name.
//
// Histories are too large for trees and are read token by token (json_tokens.h). Trees are for the
// lines of a certificate and for the messages of a service.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/token.h"

namespace ouro {

class JsonTree {
 public:
  // A value in the tree, or no value, if a member does not exist. Valid until the next parse().
  class Node {
   public:
    Node() = default;
    [[nodiscard]] bool exists() const { return tree_ != nullptr; }
    [[nodiscard]] bool is_map() const { return is(TokenKind::OpenMap); }
    [[nodiscard]] bool is_list() const { return is(TokenKind::OpenList); }
    [[nodiscard]] bool is_null() const { return is(TokenKind::Nil); }
    [[nodiscard]] bool is_true() const { return is(TokenKind::True); }
    [[nodiscard]] bool is_false() const { return is(TokenKind::False); }
    // These return nothing if the value is of another kind, or there is none.
    [[nodiscard]] std::optional<std::int64_t> integer() const;
    [[nodiscard]] std::optional<double> number() const;  // Of integers, too.
    [[nodiscard]] std::optional<std::string_view> text() const;
    // The first member of that name; no value if there is none or this is no map. Cost: linear in
    // the members before it.
    [[nodiscard]] Node member(std::string_view name) const;
    // Calls f(Node) with each element of a list. REQUIRES: is_list().
    template <class F>
    void for_each(const F& f) const {
      const std::uint32_t end = tree_->parts_[part_].end;
      for (std::uint32_t at = part_ + 1; at < end; at = tree_->parts_[at].end) f(Node(tree_, at));
    }

   private:
    friend class JsonTree;
    Node(const JsonTree* tree, std::uint32_t part) : tree_(tree), part_(part) {}
    [[nodiscard]] bool is(TokenKind kind) const {
      return tree_ != nullptr && tree_->parts_[part_].kind == kind;
    }

    const JsonTree* tree_ = nullptr;
    std::uint32_t part_ = 0;
  };

  // Replaces the tree by that of `text`, one value. False: `text` is not JSON; there is no tree.
  [[nodiscard]] bool parse(std::string_view text);
  // REQUIRES: parse() was true.
  [[nodiscard]] Node root() const { return {this, 0}; }

 private:
  // A value, or the name of a member, which comes before its value. The parts of a collection
  // follow it.
  struct Part {
    TokenKind kind = TokenKind::Nil;
    std::uint32_t end = 0;     // The index of the first part after this one and all inside it.
    std::int64_t number = 0;   // Integer: the number. String, Number: where in texts_ it begins.
    std::uint32_t length = 0;  // String, Number: its length in texts_.
  };
  void add(const Token& token);
  [[nodiscard]] std::string_view text_of(const Part& part) const {
    return std::string_view(texts_).substr(static_cast<std::size_t>(part.number), part.length);
  }

  std::string source_;
  std::string texts_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> open_;  // During parse(): the parts of open collections.
};

}  // namespace ouro
