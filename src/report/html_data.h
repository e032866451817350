// What a page of the HTML report shows of one history, as JSON; src/report/html/ draws it.
//
// All of it is bounded, whatever the size of the history. What was left out is said there.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ouro/explain.h"
#include "ouro/forms.h"
#include "report/json_writer.h"

namespace ouro {

// A story with the levels at which it was told.
struct SharedStory {
  const Story* story = nullptr;
  std::vector<Level> levels;
};

// At most as many as the page shows; `total` counts all.
[[nodiscard]] std::vector<SharedStory> shared_stories(std::span<const Explanation> explanations,
                                                      std::size_t& total);

// An object: its transactions with their operations, and each case with the sentences of its edges.
void write_html_story(JsonWriter& json, const History& history, const SharedStory& shared);

// An array: a timeline by client clocks, and one by database timestamps, as far as the history has
// them. The transactions of `stories` are on it in any case.
void write_html_timelines(JsonWriter& json, const History& history,
                          std::span<const SharedStory> stories);

}  // namespace ouro
