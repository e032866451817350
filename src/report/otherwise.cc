// The part of Narrator that tells what would follow if an edge ran the other way.

#include <fmt/format.h>

#include "history/access.h"
#include "report/narrator.h"
#include "report/notation.h"

namespace ouro {

std::string Narrator::otherwise_read(const Edge& edge) const {
  const std::string reader = label(edge.to);
  if (!edge.from.valid() || !edge.from_op.valid() || !edge.to_op.valid()) {
    return fmt::format("{} would have read {} before {} wrote it", reader,
                       short_key(history_, edge.key), label(edge.from));
  }
  const Op write = history_.op(edge.from_op);
  if (!returned(edge.to_op, edge.key)) {
    return fmt::format("{} would have seen what {} did ({}) before it was done", reader,
                       label(edge.from), noted(write));
  }
  if (is_append(write.kind)) {
    return fmt::format("{} would have read {} in {} before {} appended it", reader,
                       text(write.value), short_key(history_, edge.key), label(edge.from));
  }
  return fmt::format("{} would have read {} before {} wrote it", reader,
                     assigned(write.key, write.value), label(edge.from));
}

std::string Narrator::otherwise_missed(const Edge& edge) const {
  const std::string reader = label(edge.from);
  if (!edge.from_op.valid() || !edge.to_op.valid()) {
    return fmt::format("{} would have read what {} wrote to {}", reader, label(edge.to),
                       short_key(history_, edge.key));
  }
  const Op write = history_.op(edge.to_op);
  if (!returned(edge.from_op, edge.key)) {
    return fmt::format("{} would have seen what {} did ({})", reader, label(edge.to), noted(write));
  }
  if (is_append(write.kind)) {
    return fmt::format("{} would have read {} with {}'s {} in it", reader,
                       short_key(history_, edge.key), label(edge.to), text(write.value));
  }
  return fmt::format("{} would have read {}'s {}, or what came after it", reader, label(edge.to),
                     assigned(write.key, write.value));
}

std::string Narrator::otherwise(const Edge& edge) const {
  const std::string from = label(edge.from);
  const std::string to = label(edge.to);
  if (!edge.from.valid()) return fmt::format("{} would precede the initial state", to);
  switch (edge.kind) {
    case EdgeKind::Session:
      return fmt::format("session {} would have run backwards",
                         history_.label(history_.session_name(history_.session(edge.from))));
    case EdgeKind::BeginTime:
      return fmt::format("{} would have begun only after its begin had been answered", from);
    case EdgeKind::RealTime:
    case EdgeKind::CommitTime:
      return fmt::format("{} would have taken effect only after it had completed", from);
    case EdgeKind::WriteRead:
      return otherwise_read(edge);
    case EdgeKind::ReadWrite:
      return otherwise_missed(edge);
    case EdgeKind::WriteWrite:
      if (!edge.from_op.valid() || !edge.to_op.valid()) {
        return fmt::format("{} would have overwritten {}'s {}", from, to,
                           short_key(history_, edge.key));
      }
      return fmt::format("{}'s {} would be newer than {}'s {}", from,
                         noted(history_.op(edge.from_op)), to, noted(history_.op(edge.to_op)));
    case EdgeKind::Forced: {
      const std::string key = short_key(history_, edge.key);
      const std::string reader =
          edge.read.valid() ? label(history_.txn_of(edge.read)) : std::string("a reader");
      return fmt::format("{}, which saw {}, would have read a version of {} older than {}'s",
                         reader, from, key, from);
    }
  }
  return {};
}

}  // namespace ouro
