#include "format/json_tree.h"

#include <algorithm>
#include <limits>

#include "base/double_text.h"
#include "format/json_tokens.h"

namespace ouro {

void JsonTree::add(const Token& token) {
  Part part{.kind = token.kind, .number = token.number};
  if (token.kind == TokenKind::String || token.kind == TokenKind::Number) {
    part.number = static_cast<std::int64_t>(texts_.size());
    part.length = static_cast<std::uint32_t>(token.text.size());
    texts_ += token.text;
  }
  if (token.opens()) open_.push_back(static_cast<std::uint32_t>(parts_.size()));
  parts_.push_back(part);
  parts_.back().end = static_cast<std::uint32_t>(parts_.size());
}

bool JsonTree::parse(std::string_view text) {
  texts_.clear();
  parts_.clear();
  open_.clear();
  if (text.size() > std::numeric_limits<std::uint32_t>::max()) return false;
  source_ = text;
  JsonTokens tokens(source_, "");
  Token token;
  while (tokens.next(token)) {
    if (token.kind == TokenKind::End) return true;
    if (token.kind == TokenKind::Close) {
      parts_[open_.back()].end = static_cast<std::uint32_t>(parts_.size());
      open_.pop_back();
    } else {
      add(token);
    }
  }
  parts_.clear();
  return false;
}

std::optional<std::string_view> JsonTree::repeated_member() const {
  std::vector<std::string_view> names;
  for (std::uint32_t map = 0; map < parts_.size(); ++map) {
    if (parts_[map].kind != TokenKind::OpenMap) continue;
    names.clear();
    for (std::uint32_t at = map + 1; at < parts_[map].end; at = parts_[at + 1].end) {
      names.push_back(text_of(parts_[at]));
    }
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) return *twice;
  }
  return std::nullopt;
}

std::optional<std::int64_t> JsonTree::Node::integer() const {
  if (!is(TokenKind::Integer)) return std::nullopt;
  return tree_->parts_[part_].number;
}

std::optional<double> JsonTree::Node::number() const {
  if (const auto whole = integer()) return static_cast<double>(*whole);
  if (!is(TokenKind::Number)) return std::nullopt;
  const std::string_view text = tree_->text_of(tree_->parts_[part_]);
  double number = 0;
  if (!parse_double(text, number)) return std::nullopt;
  return number;
}

std::optional<std::string_view> JsonTree::Node::text() const {
  if (!is(TokenKind::String)) return std::nullopt;
  return tree_->text_of(tree_->parts_[part_]);
}

JsonTree::Node JsonTree::Node::member(std::string_view name) const {
  if (!is_map()) return {};
  const std::uint32_t end = tree_->parts_[part_].end;
  for (std::uint32_t at = part_ + 1; at < end; at = tree_->parts_[at + 1].end) {
    if (tree_->text_of(tree_->parts_[at]) == name) return {tree_, at + 1};
  }
  return {};
}

}  // namespace ouro
