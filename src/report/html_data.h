// Writes what the page of the HTML report shows of one history, as JSON; the scripts in
// src/report/html/ draw it.
//
// Its size is bounded, whatever the size of the history. It says how much was left out.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ouro/explain.h"
#include "ouro/forms.h"
#include "report/json_writer.h"

namespace ouro {

// A story, and all levels whose explanations have it.
struct SharedStory {
  const Story* story = nullptr;
  std::vector<Level> levels;
};

// The different stories of the explanations, at most as many as the page shows. Sets `total` to the
// number of all. The explanations must outlive the result.
[[nodiscard]] std::vector<SharedStory> shared_stories(std::span<const Explanation> explanations,
                                                      std::size_t& total);

// Writes an object: the story's transactions with their operations, and what the text tells of it,
// in the same order: each case with the sentences of its edges, and what it supposes.
void write_html_story(JsonWriter& json, const History& history, const SharedStory& shared);

// Writes an array: a timeline by client clocks, and one by database timestamps, if the history has
// such. Of a large history each shows a sample, with the transactions of `stories` first.
void write_html_timelines(JsonWriter& json, const History& history,
                          std::span<const SharedStory> stories);

}  // namespace ouro
