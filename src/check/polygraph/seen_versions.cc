#include "check/polygraph/seen_versions.h"

#include <numeric>

#include "check/polygraph/search.h"

namespace ouro {

SeenVersions::SeenVersions(const Encoding& encoding, const DynamicOrder& order, Search& search,
                           const Budget& budget)
    : e_(encoding), order_(order), search_(search) {
  const Observed& o = e_.observed();
  chain_first_.assign(e_.chain_count() + 1, 0);
  versions_.reserve(e_.members().size());
  for_each_within(budget, 0, e_.members().size(), [&](std::size_t i) {
    const ChainMember& member = e_.members()[i];
    Version version{member.writer, member.chain, {}};
    if (member.writer != kInitialTxn) {
      version.write = final_write(o, member.writer, e_.key_of(member.chain));
    }
    versions_.push_back(version);
    ++chain_first_[member.chain + 1];
  });
  std::partial_sum(chain_first_.begin(), chain_first_.end(), chain_first_.begin());
}

std::uint32_t SeenVersions::position(VersionId version) const {
  const TxnId writer = versions_[version].writer;
  return writer == kInitialTxn ? 0 : order_.position(e_.commit(writer)) + 1;
}

VersionId SeenVersions::last_seen(KeyId key, TxnId reader) const {
  const std::uint32_t now = begin(reader);
  const auto [first, end] = members(search_.last_chain(key, e_.begin(reader)));
  VersionId low = first;  // The first version of a chain comes before all others.
  VersionId high = end;
  while (high - low > 1) {
    const VersionId middle = low + (high - low) / 2;
    (position(middle) < now ? low : high) = middle;
  }
  return low;
}

VersionId SeenVersions::before(VersionId version) const {
  const ChainId chain = versions_[version].chain;
  if (version > members(chain).first) return version - 1;
  const ChainId left = search_.neighbour(chain, -1);
  return left == kNoChain ? kNoVersion : members(left).second - 1;
}

VersionId SeenVersions::behind(VersionId version) const {
  const ChainId chain = versions_[version].chain;
  if (version + 1 < members(chain).second) return version + 1;
  const ChainId right = search_.neighbour(chain, 1);
  return right == kNoChain ? kNoVersion : members(right).first;
}

Literal SeenVersions::sees(Solver& solver, TxnId reader, VersionId version, OpId read) {
  const TxnId writer = versions_[version].writer;
  const auto [at, added] = sees_.try_emplace({reader, writer}, 0);
  if (added) {
    Side yes;
    Side no;
    yes.add({e_.commit(writer), e_.begin(reader)});
    no.add({e_.begin(reader), e_.commit(writer)});
    Choice about{.key = e_.key_of(versions_[version].chain), .first = writer, .second = reader};
    about.kind = ChoiceKind::Sees;
    about.read = read;
    at->second = add_choice(solver, yes, no, about);
  }
  return Literal::of(at->second, false);
}

std::uint32_t SeenVersions::add_choice(Solver& solver, const Side& first, const Side& second,
                                       Choice about) {
  const std::uint32_t choice = search_.add_other_choice(solver, first, second);
  about_.emplace(choice, about);
  return choice;
}

const Choice* SeenVersions::about(std::uint32_t choice) const {
  const auto found = about_.find(choice);
  return found == about_.end() ? nullptr : &found->second;
}

}  // namespace ouro
