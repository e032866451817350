#include "stream/initials.h"

#include "history/columns.h"

namespace ouro::stream {

bool Initials::agrees(const History& batch) const {
  if (!known_ || batch.txn_count() == 0) return true;
  const Value said = batch.default_initial();
  if (said.is_null() || said.kind() == ValueKind::Integer) return said.bits() == all_.print;
  Fingerprints prints;
  prints.enter(batch);
  return prints.of(said) == all_.print;
}

std::vector<KeyId> Initials::enter(const History& batch, Fingerprints& prints) {
  const HistoryColumns& c = columns_of(batch);
  const bool says = batch.txn_count() > 0 || !c.default_initial.is_null();
  std::vector<KeyId> changed;
  if (known_ && c.key_initial.empty() && batch.txn_count() > 0) return changed;
  store_.read_from(batch);
  if (!known_ && says) {
    all_ = kept(c.default_initial, prints);
    known_ = true;
  }
  for (const KeyVersion& own : c.key_initial) {
    if (set(batch, own.key, own.value, prints)) changed.push_back(own.key);
  }
  // A batch without transactions names keys that perhaps nobody touches. They are rows if the
  // initial value for all keys is not null, so they are remembered here.
  if (batch.txn_count() > 0 || c.default_initial.is_null()) return changed;
  for (std::size_t k = 0; k < batch.key_count(); ++k) {
    const Name name = name_of(batch, batch.key_name(KeyId{k}));
    if (!own_.contains(name)) set(batch, KeyId{k}, c.default_initial, prints);
  }
  return changed;
}

bool Initials::set(const History& batch, KeyId key, Value value, Fingerprints& prints) {
  const Name name = name_of(batch, batch.key_name(key));
  const std::uint64_t before = of(name).print;
  const auto [at, added] = own_.try_emplace(name);
  Own& own = at->second;
  if (added) own.key = store_.add(batch.key_name(key));
  if (added || prints.of(value) != before) static_cast<Initial&>(own) = kept(value, prints);
  return own.print != before;
}

void Initials::save(Encoder& out) {
  out.number(known_);
  store_.encode_columns(out);
  store_.encode(all_.value, out);
  out.number(all_.print);
  out.number<std::uint64_t>(own_.size());
  for (const auto& [name, own] : own_) {
    out.number(name);
    store_.encode(own.key, out);
    store_.encode(own.value, out);
    out.number(own.print);
  }
}

void Initials::restore(Decoder& in) {
  known_ = in.number<bool>();
  store_.decode_columns(in);
  all_.value = store_.decode(in);
  all_.print = in.number<std::uint64_t>();
  const auto count = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    Own& own = own_[in.number<Name>()];
    own.key = store_.decode(in);
    own.value = store_.decode(in);
    own.print = in.number<std::uint64_t>();
  }
}

}  // namespace ouro::stream
