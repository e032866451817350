// Reads the part of YAML that the example workflows in the documents use, and refuses all else:
// maps and lists by indentation or on one line, plain and quoted texts, folded and literal texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ouro {

struct Yaml {
  enum class Kind { Text, Map, List };
  Kind kind = Kind::Text;
  std::string text;
  struct Member;
  std::vector<Member> members;  // Of a Map.
  std::vector<Yaml> items;      // Of a List.

  // Null if there is none, or this is no map.
  [[nodiscard]] const Yaml* member(std::string_view name) const;
};

struct Yaml::Member {
  std::string name;
  Yaml value;
};

// Throws std::invalid_argument, which names the line.
[[nodiscard]] Yaml parse_yaml(std::string_view text);

}  // namespace ouro
