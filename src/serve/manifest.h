// What belongs to a state folder, so that a file that is gone is missed.
//
// The manifest is replaced in one step, and always before something that it names is relied on: a
// log before anything acknowledged is in it, a checkpoint before the logs that it includes are
// removed. So what it names must be there. There may be more, after a crash.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace ouro::serving {

struct Manifest {
  struct Source {
    std::string name;
    // How many transactions its checkpoint includes, at least; nothing: it has none.
    std::optional<std::uint64_t> saved;
  };
  std::string settings;  // Lines: the options that must not change while the folder is used.
  std::set<std::uint64_t> logs;
  std::map<std::uint32_t, Source> sources;
  std::set<std::uint32_t> forgotten;  // The numbers of sources that were forgotten.
  bool counters = false;              // There is a file of counters.
  bool repairing = false;             // A repair was begun, and has not ended.
};

[[nodiscard]] std::string print_manifest(const Manifest& manifest);
// Nothing: it is no manifest.
[[nodiscard]] std::optional<Manifest> parse_manifest(std::string_view text);

}  // namespace ouro::serving
