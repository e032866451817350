#include "run/sim_database.h"

#include <fmt/format.h>

#include <charconv>
#include <mutex>

#include "base/level_rules.h"
#include "workload/fault_player.h"
#include "workload/fault_script.h"
#include "workload/isolation.h"

namespace ouro::running {
namespace {

using db::Answer;
using db::Key;
using db::Number;
using workload::DoneOp;
using workload::OpenTxn;

constexpr std::uint32_t kActors = 4;
constexpr std::uint64_t kFaultStream = 3'000'000;  // A random stream that no client uses.
// Numbers that actors write are above this, so that they differ from those of clients.
constexpr Number kPlayedNumbers = 1'000'000'000'000;

// Values of the simulated store are indexes from 1, in the order of the writes; clients know them
// by the numbers that they wrote, see number_of().
class Store final : public SimDatabase, private workload::PlayStage {
 public:
  Store(Level level, std::vector<PlantedFault> faults, std::uint64_t seed)
      : level_(level), seed_(seed), random_(seed, kFaultStream) {
    for (const PlantedFault& planted : faults) {
      faults_.emplace_back(workload::Chance(planted.rate), &workload::script_of(planted.fault));
    }
  }

  void set_witness(Witness witness) override { witness_ = std::move(witness); }

  [[nodiscard]] std::string description() const override {
    std::string text = fmt::format("simulated {} store", info(level_).name);
    for (const auto& [chance, script] : faults_) text += fmt::format(", fault {}", script->name);
    return text;
  }
  [[nodiscard]] Level claims() const override { return level_; }
  [[nodiscard]] db::Features features() const override {
    return {.lists = true, .scans = true, .timestamps = true, .live = true, .in_process = true};
  }

  Status prepare(const db::Schema& schema) override {
    lists_ = schema.model == db::Model::Lists;
    keys_ = static_cast<std::uint32_t>(std::max<std::uint64_t>(schema.keys, 2));
    next_play_key_ = 1'000'000;
    state_ = std::make_unique<workload::StoreState>(seed_, keys_, kActors, lists_);
    state_->keeps_begins = true;
    isolation_ = workload::make_isolation(level_, *state_);
    for (std::uint32_t actor = 0; actor < kActors; ++actor) actors_[actor].session = actor;
    for (const auto& [chance, script] : faults_) {
      if (!script->lists_only || lists_) continue;
      Error error;
      error.what =
          fmt::format("fault {} is about lists; use the list-append workload", script->name);
      return error;
    }
    return {};
  }
  Result<std::unique_ptr<db::Connection>> connect(std::size_t) override;

 private:
  friend class SimConnection;

  // REQUIRES, here and for all members below: mutex_ is held.
  void begin(OpenTxn& txn) {
    play_faults();
    txn.reset();
    isolation_->begin(txn);
  }
  std::uint32_t read(OpenTxn& txn, Key key, std::vector<Number>& elements) {
    grow(key);
    const DoneOp op =
        workload::read_key(*state_, *isolation_, txn, static_cast<std::uint32_t>(key));
    if (lists_) list_of(txn, op, elements);
    return op.value;
  }
  void write(OpenTxn& txn, Key key, Number number) {
    grow(key);
    numbers_.push_back(number);
    txn.writes.push_back(
        {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(numbers_.size())});
  }
  bool commit(OpenTxn& txn) { return isolation_->commit(txn); }

  void grow(Key key) { state_->versions.grow(static_cast<std::size_t>(key) + 1); }
  // The number that clients know a value of the store by.
  [[nodiscard]] Number number_of(std::uint32_t value) const {
    return value <= numbers_.size() && numbers_[value - 1] != 0
               ? numbers_[value - 1]
               : kPlayedNumbers + static_cast<Number>(value);
  }
  // The elements that `op` of `txn` read: committed ones, own appends, and those that a fault adds.
  void list_of(const OpenTxn& txn, const DoneOp& op, std::vector<Number>& elements) const {
    elements.clear();
    for (const workload::Version& element : state_->versions.of(op.key).first(op.value)) {
      elements.push_back(number_of(element.value));
    }
    std::uint32_t own = op.own;
    for (const workload::PendingWrite& write : txn.writes) {
      if (own == 0) break;
      if (write.key != op.key) continue;
      elements.push_back(number_of(write.value));
      --own;
    }
    for (const std::uint32_t planted : op.planted) {
      if (planted != 0) elements.push_back(number_of(planted));
    }
  }

  void play_faults() {
    for (const auto& [chance, script] : faults_) {
      if (random_.hit(chance)) workload::play(*script, *state_, *isolation_, *this);
    }
  }

  // The functions of workload::PlayStage, on which faults are played. With lists, a fault gets keys
  // that no client uses: a later read of the list would contradict what the fault pretends.
  workload::Client::KeyPair pick_keys() override {
    const auto x = static_cast<std::uint32_t>(random_.below(keys_));
    const std::uint32_t y = (x + 1 + static_cast<std::uint32_t>(random_.below(keys_ - 1))) % keys_;
    if (lists_) return new_keys();
    grow(std::max(x, y));
    return {x, y};
  }
  workload::Client::KeyPair new_keys() override {
    const std::uint32_t x = next_play_key_++;
    const std::uint32_t y = next_play_key_++;
    grow(y);
    return {x, y};
  }
  OpenTxn& actor(std::size_t number) override { return actors_[number]; }
  void begun(OpenTxn& txn) override {
    txn.reset();
    if (witness_.begun) witness_.begun(txn.session);
  }
  // The number of a value that an actor writes follows from the value, so zero is stored for it.
  std::uint32_t fresh_value(std::uint32_t) override {
    numbers_.push_back(0);
    return static_cast<std::uint32_t>(numbers_.size());
  }
  std::uint32_t peek_value(std::uint32_t) override {
    return static_cast<std::uint32_t>(numbers_.size() + 1);
  }
  void ended(OpenTxn& txn, bool committed) override {
    if (!witness_.ended) return;
    Performed performed{.actor = txn.session, .committed = committed, .operations = {}};
    performed.start = {txn.start, 0};
    if (committed) performed.commit = {txn.commit, 0};
    for (const DoneOp& op : txn.ops) {
      Performed::Operation operation{.kind = op.kind, .key = op.key, .number = {}, .elements = {}};
      if (op.kind == OpKind::Read && lists_) {
        list_of(txn, op, operation.elements);
      } else if (op.value != 0 && op.kind != OpKind::Scan) {
        operation.number = number_of(op.value);
      }
      performed.operations.push_back(std::move(operation));
    }
    witness_.ended(performed);
  }

  Level level_;
  std::uint64_t seed_;
  workload::Random random_;
  std::vector<std::pair<workload::Chance, const workload::FaultScript*>> faults_;
  Witness witness_;

  std::mutex mutex_;
  bool lists_ = false;
  std::uint32_t keys_ = 2;
  std::uint32_t next_play_key_ = 0;
  std::unique_ptr<workload::StoreState> state_;
  std::unique_ptr<workload::Isolation> isolation_;
  std::array<OpenTxn, kActors> actors_;
  std::vector<Number> numbers_;  // At value - 1; zero: an actor wrote it.
};

class SimConnection final : public db::Connection {
 public:
  SimConnection(Store& store, std::uint32_t session) : store_(store) { txn_.session = session; }

  Answer begin(bool) override {
    const std::lock_guard lock(store_.mutex_);
    store_.begin(txn_);
    committed_ = false;
    return {};
  }
  Answer read(Key key, std::optional<Number>& number) override {
    const std::lock_guard lock(store_.mutex_);
    const std::uint32_t value = store_.read(txn_, key, elements_);
    number.reset();
    if (value != 0) number = store_.number_of(value);
    return {};
  }
  Answer write(Key key, Number number) override {
    const std::lock_guard lock(store_.mutex_);
    store_.write(txn_, key, number);
    return {};
  }
  Answer scan(Key lower, Key upper, std::vector<db::KeyNumber>& found) override {
    const std::lock_guard lock(store_.mutex_);
    found.clear();
    for (Key key = lower; key <= upper; ++key) {
      const std::uint32_t value = store_.read(txn_, key, elements_);
      if (value != 0) found.push_back({key, store_.number_of(value)});
    }
    return {};
  }
  Answer read_list(Key key, std::vector<Number>& elements) override {
    const std::lock_guard lock(store_.mutex_);
    store_.read(txn_, key, elements);
    return {};
  }
  Answer append(Key key, Number element) override { return write(key, element); }
  Answer commit() override {
    const std::lock_guard lock(store_.mutex_);
    committed_ = store_.commit(txn_);
    return committed_ ? Answer{} : Answer::aborted("conflict");
  }
  Answer rollback() override { return {}; }

  db::Trace trace() override {
    return {.start = {txn_.start, 0},
            .commit = committed_ ? Timestamp{txn_.commit, 0} : kNoTimestamp};
  }

 private:
  Store& store_;
  OpenTxn txn_;
  bool committed_ = false;
  std::vector<Number> elements_;
};

Result<std::unique_ptr<db::Connection>> Store::connect(std::size_t) {
  const std::lock_guard lock(mutex_);
  state_->last_commit.push_back(0);
  const auto session = static_cast<std::uint32_t>(state_->last_commit.size() - 1);
  return std::unique_ptr<db::Connection>(std::make_unique<SimConnection>(*this, session));
}

std::optional<Fault> fault_named(std::string_view wanted) {
  for (const Fault fault : faults()) {
    if (name(fault) == wanted) return fault;
  }
  return std::nullopt;
}

Error bad(const db::Url& url, const std::string& what) {
  Error error;
  error.what = url.text + ": " + what;
  return error;
}

}  // namespace

Result<std::unique_ptr<SimDatabase>> open_sim(db::Url url, std::uint64_t seed) {
  const std::string fault = url.take("fault");
  const std::string rate = url.take("rate", "0.01");
  if (auto left = url.nothing_left("fault, rate"); !left) return left.error();
  const auto level = find_level(url.path.empty() ? "serializable" : url.path);
  if (!level || rules(*level).store == StoreKind::None) {
    return bad(url,
               fmt::format("no simulated store keeps '{}'; 'ouro levels' lists levels", url.path));
  }
  std::vector<PlantedFault> planted;
  if (!fault.empty()) {
    const auto found = fault_named(fault);
    if (!found) {
      return bad(
          url, fmt::format("unknown fault '{}'; 'ouro generate' lists them in its manual", fault));
    }
    PlantedFault one{.fault = *found};
    const auto [end, problem] = std::from_chars(rate.data(), rate.data() + rate.size(), one.rate);
    if (problem != std::errc() || end != rate.data() + rate.size() ||
        !(one.rate >= 0 && one.rate <= 1)) {
      return bad(url, fmt::format("rate is '{}'; it must be a number from 0 to 1", rate));
    }
    planted.push_back(one);
  }
  return std::unique_ptr<SimDatabase>(std::make_unique<Store>(*level, std::move(planted), seed));
}

}  // namespace ouro::running
