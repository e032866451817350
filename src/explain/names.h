// What a story is called, by the shape of its cycles. docs/anomalies.md states the rules.
#pragma once

#include "ouro/explain.h"

namespace ouro {

// Sets the pattern and the variant. The mildest case names the story: no more than that is proven.
void name_story(Story& story, const History& history);

}  // namespace ouro
