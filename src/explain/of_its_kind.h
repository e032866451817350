// As explain(), for reports in which each kind of anomaly counts.
#pragma once

#include "ouro/explain.h"

namespace ouro {

// As explain(), but each story shows an anomaly of the kind that the verdict names, although a part
// of it may violate the level by something else, and so be smaller.
[[nodiscard]] Explanation explain_each_kind(const History& history, const Verdict& verdict,
                                            const ExplainOptions& options);

}  // namespace ouro
