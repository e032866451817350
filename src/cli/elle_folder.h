// The folder that elle-cli writes with --directory: for each type of anomaly a text and plots.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ouro/elle.h"
#include "ouro/ouro.h"

namespace ouro::cli {

struct ElleFolder {
  std::string directory;             // Empty: none is written.
  std::string plot_format = "svg";   // "svg", "png" or "dot".
  std::uint64_t max_plot_bytes = 65'536;  // Of DOT; larger graphs are not drawn.
  std::uint64_t plot_timeout_ms = 5'000;  // For each plot.
};

// Writes the files. Graphs are drawn by Graphviz's dot; where it is not installed, or takes too
// long, they are left as DOT with a note. Returns an exit status.
[[nodiscard]] int write_elle_folder(const ElleFolder& folder, const History& history,
                                    std::span<const Explanation> explanations);

}  // namespace ouro::cli
