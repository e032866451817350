// Checks certificates of verdicts that rest on timestamps.
#pragma once

#include <string>

#include "ouro/certificate.h"

namespace ouro::recheck {

// What keeps the order or schedule from being that of the timestamps, or from explaining the
// history, or "".
[[nodiscard]] std::string check_timestamp_order(const History& history,
                                                const Certificate& certificate);

// What is wrong with the violations that it names, or "". Each is looked up by itself, in time
// linear in the history, or O(n log n) for lists and predicates.
[[nodiscard]] std::string check_timestamp_anomalies(const History& history,
                                                    const Certificate& certificate);

}  // namespace ouro::recheck
