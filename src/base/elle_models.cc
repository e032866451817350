#include "base/elle_models.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <iterator>
#include <string>

#include "base/level_rules.h"

namespace ouro {
namespace {

// What Elle says of a model itself, with none of what follows.
struct Model {
  std::string_view name;
  FewOf<std::string_view> others;     // Other names, in lower case.
  FewOf<std::string_view> implied;    // Models that it directly implies.
  FewOf<std::string_view> forbidden;  // Anomalies that rule it out.
};

constexpr Model kModels[] = {
    {"read-uncommitted", {"pl-1"}, {}, {"G0", "duplicate-elements"}},
    {"read-committed", {"pl-2"}, {"read-uncommitted"}, {"G1"}},
    {"cursor-stability", {"pl-cs"}, {"read-committed"}, {"G1", "lost-update"}},
    {"monotonic-view", {"pl-2l"}, {"read-committed"}, {"G1", "G-monotonic"}},
    {"monotonic-snapshot-read", {"pl-msr"}, {"read-committed"}, {"G1"}},
    {"monotonic-atomic-view", {}, {"read-committed"}, {}},
    {"consistent-view", {"pl-2+"}, {"cursor-stability", "monotonic-view"}, {"G1", "G-single"}},
    {"forward-consistent-view", {"pl-fcv"}, {"consistent-view"}, {"G1"}},
    {"update-serializable", {"pl-3u"}, {"forward-consistent-view"}, {"G1"}},
    {"read-atomic", {}, {"monotonic-atomic-view"}, {"internal", "G1a", "future-read"}},
    {"update-atomic", {"rola"}, {"read-atomic"}, {"lost-update"}},
    {"causal-cerone", {}, {"read-atomic"}, {"internal", "G1a"}},
    {"prefix", {}, {"causal-cerone"}, {"internal", "G1a"}},
    {"parallel-snapshot-isolation", {}, {"causal-cerone", "update-atomic"}, {"internal", "G1a"}},
    {"snapshot-isolation",
     {"pl-si"},
     {"forward-consistent-view", "monotonic-snapshot-read", "parallel-snapshot-isolation",
      "prefix"},
     {"internal", "G1", "G-nonadjacent"}},
    {"repeatable-read",
     {"pl-2.99"},
     {"cursor-stability", "monotonic-atomic-view"},
     {"G1", "G2-item", "lost-update"}},
    {"view-serializable", {}, {}, {}},
    {"serializable",
     {"pl-3", "conflict-serializable"},
     {"repeatable-read", "snapshot-isolation", "view-serializable", "update-serializable"},
     {"internal", "G1", "G2", "predicate-read-miss"}},
    {"strong-session-read-uncommitted",
     {"strong-session-pl-1"},
     {"read-uncommitted"},
     {"G0-process"}},
    {"strong-session-read-committed",
     {"strong-session-pl-2"},
     {"read-committed", "strong-session-read-uncommitted"},
     {"G1c-process"}},
    {"strong-read-uncommitted",
     {"strong-pl-1"},
     {"strong-session-read-uncommitted"},
     {"G0-realtime"}},
    {"strong-read-committed",
     {"strong-pl-2"},
     {"strong-session-read-committed", "strong-read-uncommitted"},
     {"G1c-realtime"}},
    {"strong-session-snapshot-isolation",
     {},
     {"snapshot-isolation", "strong-session-read-committed"},
     {"internal", "G1-process", "G-nonadjacent-process"}},
    {"strong-snapshot-isolation",
     {},
     {"strong-session-snapshot-isolation", "strong-read-committed"},
     {"internal", "G1-realtime", "G-nonadjacent-realtime"}},
    {"strong-session-serializable",
     {},
     {"serializable", "strong-session-snapshot-isolation"},
     {"G1-process", "G2-process"}},
    // Of one object.
    {"monotonic-reads", {}, {}, {}},
    {"monotonic-writes", {}, {}, {}},
    {"read-your-writes", {}, {}, {}},
    {"writes-follow-reads", {}, {}, {}},
    {"pram", {}, {"monotonic-reads", "monotonic-writes", "read-your-writes"}, {}},
    {"causal", {}, {"writes-follow-reads", "pram"}, {}},
    {"sequential", {}, {"causal"}, {}},
    {"linearizable", {}, {"sequential"}, {}},
    {"strong-serializable",
     {"pl-ss", "strict-serializable"},
     {"strong-snapshot-isolation", "strong-session-serializable", "linearizable"},
     {"G1", "G1c-realtime", "G2-realtime"}},
};
constexpr std::size_t kModelCount = std::size(kModels);
using Models = std::bitset<kModelCount>;

constexpr std::size_t index_of(std::string_view name) {
  std::size_t i = 0;
  while (kModels[i].name != name) ++i;
  return i;
}

// Whether every model stands behind all that it implies, so that one pass finds what follows.
constexpr bool weaker_come_first() {
  for (std::size_t i = 0; i < kModelCount; ++i) {
    for (const std::string_view below : kModels[i].implied.span()) {
      if (index_of(below) >= i) return false;
    }
  }
  return true;
}
static_assert(weaker_come_first());

// Bit j of entry i: model i implies model j, or is it.
std::array<Models, kModelCount> model_implications() {
  std::array<Models, kModelCount> out;
  for (std::size_t i = 0; i < kModelCount; ++i) {
    out[i].set(i);
    for (const std::string_view below : kModels[i].implied.span()) out[i] |= out[index_of(below)];
  }
  return out;
}

// An anomaly of the first kind is one of the second, too. So it is with the suffix of a variant.
struct Special {
  std::string_view anomaly;
  std::string_view is;
};
constexpr Special kSpecial[] = {
    {"G0", "G1c"},
    {"G1a", "G1"},
    {"G1b", "G1"},
    {"G1c", "G1"},
    {"G-single-item", "G-single"},
    {"G-single-item", "G-nonadjacent-item"},
    {"G-single", "G-nonadjacent"},
    {"G-nonadjacent-item", "G-nonadjacent"},
    {"G-nonadjacent-item", "G2-item"},
    {"G-nonadjacent", "G2"},
    {"G2-item", "G2"},
    {"incompatible-order", "G1a"},
    {"dirty-update", "G1a"},
    {"garbage-read", "G1a"},  // Ours: what was never written was not committed either.
    {"future-read", "G1c"},
    {"lost-update", "G2-item"},
};
// An anomaly is one of the next variant, too: what breaks without sessions breaks with them.
constexpr std::string_view kVariants[] = {"", "-process", "-realtime"};

// Everything that an anomaly is, itself first.
std::vector<std::string> all_that_is(std::string_view anomaly) {
  std::size_t variant = 0;
  std::string_view base = anomaly;
  for (const std::size_t i : {1, 2}) {
    if (!anomaly.ends_with(kVariants[i])) continue;
    variant = i;
    base.remove_suffix(kVariants[i].size());
  }
  std::vector<std::string_view> bases = {base};
  for (std::size_t i = 0; i < bases.size(); ++i) {
    for (const Special& special : kSpecial) {
      const bool known = std::find(bases.begin(), bases.end(), special.is) != bases.end();
      if (special.anomaly == bases[i] && !known) bases.push_back(special.is);
    }
  }
  std::vector<std::string> out;
  for (const std::string_view one : bases) {
    for (std::size_t i = variant; i < std::size(kVariants); ++i) {
      out.push_back(std::string(one).append(kVariants[i]));
    }
  }
  return out;
}

std::string lower(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_') c = '-';
  }
  return out;
}

}  // namespace

std::string_view find_elle_model(std::string_view name) {
  const std::string wanted = lower(name);
  for (const Model& model : kModels) {
    const auto others = model.others.span();
    if (wanted == model.name || std::find(others.begin(), others.end(), wanted) != others.end()) {
      return model.name;
    }
  }
  return {};
}

std::vector<Level> weakest_implying(std::string_view model) {
  const auto implied = model_implications();
  std::vector<Level> out;
  for (const LevelInfo& level : levels()) {
    const std::string_view same = row_of(level.level).elle;
    if (same.empty() || !implied[index_of(same)][index_of(model)]) continue;
    const bool covered = std::any_of(out.begin(), out.end(), [&](Level weaker) {
      return implied[index_of(same)][index_of(row_of(weaker).elle)];
    });
    if (!covered) out.push_back(level.level);
  }
  return out;
}

bool model_implies(std::string_view model, std::string_view other) {
  return model_implications()[index_of(model)][index_of(other)];
}

std::string unknown_level(std::string_view name) {
  const std::string_view model = find_elle_model(name);
  if (!model.empty()) {
    std::string stronger;
    for (const Level level : weakest_implying(model)) {
      stronger += (stronger.empty() ? "'" : ", '") + std::string(info(level).name) + "'";
    }
    return "'" + std::string(name) + "' is a model of Elle's that Ouro does not decide; the next " +
           "stronger that it does: " + stronger;
  }
  const std::string_view closest = closest_level(name);
  const std::string advice = closest.empty() ? "'ouro levels' lists them"
                                             : "did you mean '" + std::string(closest) + "'?";
  return "unknown level '" + std::string(name) + "'; " + advice;
}

ElleBoundary boundary(const ElleFindings& findings) {
  const auto implied = model_implications();
  Models ruled_out;
  for (const std::string_view anomaly : findings.anomalies) {
    for (const std::string& one : all_that_is(anomaly)) {
      for (std::size_t i = 0; i < kModelCount; ++i) {
        const auto forbidden = kModels[i].forbidden.span();
        if (std::find(forbidden.begin(), forbidden.end(), one) != forbidden.end()) ruled_out.set(i);
      }
    }
  }
  for (const std::string_view model : findings.models) ruled_out.set(index_of(model));
  const Models given = ruled_out;
  for (std::size_t i = 0; i < kModelCount; ++i) {
    if ((implied[i] & given).any()) ruled_out.set(i);
  }
  ElleBoundary out;
  for (std::size_t i = 0; i < kModelCount; ++i) {
    if (!ruled_out[i]) continue;
    const bool weakest = (implied[i] & ruled_out).count() == 1;
    (weakest ? out.weakest : out.stronger).push_back(kModels[i].name);
  }
  std::sort(out.weakest.begin(), out.weakest.end());
  std::sort(out.stronger.begin(), out.stronger.end());
  return out;
}

}  // namespace ouro
