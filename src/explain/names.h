// Names a story by the shape of its cycles. docs/anomalies.md states the rules.
#pragma once

#include "ouro/explain.h"

namespace ouro {

// Sets the pattern and the variant. The case with the mildest pattern names the story: any of the
// cases may be what happened, so nothing worse is proven. `history` is the one of the story's ids;
// `of_part` as in ExplainOptions.
void name_story(Story& story, const History& history, bool of_part = false);

}  // namespace ouro
