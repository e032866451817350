// Checks certificates of verdicts that rest on timestamps.
#pragma once

#include <string>

#include "ouro/certificate.h"

namespace ouro::recheck {

// What keeps the order or schedule of a certificate from being that of the timestamps, or from
// explaining the history; "" if nothing does.
[[nodiscard]] std::string check_timestamp_order(const History& history,
                                                const Certificate& certificate);

// What is wrong with the violations that a certificate names, or "". Each takes time linear in the
// history, or O(n log n) for lists; all those of predicate reads are found in one walk.
[[nodiscard]] std::string check_timestamp_anomalies(const History& history,
                                                    const Certificate& certificate);

}  // namespace ouro::recheck
