#include "serve/doubt.h"

#include <algorithm>
#include <array>

namespace ouro::serving {

std::string_view name(Doubt::Scope scope) {
  constexpr std::array<std::string_view, 3> kNames{"", "reads", "everything"};
  return kNames[static_cast<std::size_t>(scope)];
}

bool doubtful(Doubt::Scope scope, AnomalyKind kind) {
  // Whoever wrote what these reads returned may be missing.
  const bool by_writers =
      kind == AnomalyKind::SnapshotMismatch || kind == AnomalyKind::ResultSetMismatch;
  return scope == Doubt::Scope::Everything || (scope == Doubt::Scope::Reads && by_writers);
}

void leave_open(Doubt::Scope scope, StreamSummary& summary) {
  for (std::size_t i = 0; i < summary.counts.size(); ++i) {
    if (!doubtful(scope, static_cast<AnomalyKind>(i))) continue;
    const std::uint64_t provisional = std::min(summary.counts[i], summary.provisional_counts[i]);
    summary.undecided += summary.counts[i] - provisional;
    summary.provisional -= std::min(summary.provisional, provisional);
    summary.counts[i] = summary.provisional_counts[i] = 0;
  }
}

void leave_open(Doubt::Scope scope, StreamEvent& event) {
  const bool violation = event.what == StreamEvent::What::Violation;
  if (violation && doubtful(scope, event.kind)) event.what = StreamEvent::What::Undecided;
}

std::string reason_of(std::string_view text) {
  if (text.size() <= kMaxReasonBytes) return std::string(text);
  std::size_t end = kMaxReasonBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace ouro::serving
