// The table of workloads.
#include <algorithm>
#include <array>

#include "ouro/workload.h"

namespace ouro {
namespace {

constexpr std::array kWorkloads{
    WorkloadInfo{.kind = WorkloadKind::General,
                 .name = "general",
                 .description = "reads and writes in any mixture"},
    WorkloadInfo{.kind = WorkloadKind::BlindWRm,
                 .name = "blindw-rm",
                 .description = "Cobra's BlindW: 90 % read-only, 10 % blind writers"},
    WorkloadInfo{.kind = WorkloadKind::BlindWRw,
                 .name = "blindw-rw",
                 .description = "Cobra's BlindW: half read-only, half blind writers"},
    WorkloadInfo{.kind = WorkloadKind::ListAppend,
                 .name = "list-append",
                 .description = "Elle's: appends to lists and reads of whole lists",
                 .lists = true},
    WorkloadInfo{.kind = WorkloadKind::ReadModifyWrite,
                 .name = "rmw",
                 .description = "King Cobra's: 25 % reads, 25 % writes, 50 % read-modify-writes"},
    WorkloadInfo{.kind = WorkloadKind::ReadWrite,
                 .name = "read-write",
                 .description = "King Cobra's: half reads, half blind writes"},
    WorkloadInfo{.kind = WorkloadKind::HeavyWrite,
                 .name = "heavy-write",
                 .description = "King Cobra's: 10 % reads, 10 % read-modify-writes, 80 % writes"},
    WorkloadInfo{.kind = WorkloadKind::RangeBalanced,
                 .name = "range-b",
                 .description = "Viper's V-Range: reads, writes, inserts, deletes, range queries",
                 .scans = true,
                 .preloads = true},
    WorkloadInfo{.kind = WorkloadKind::RangeQueryHeavy,
                 .name = "range-rqh",
                 .description = "V-Range with half range queries",
                 .scans = true,
                 .preloads = true},
    WorkloadInfo{.kind = WorkloadKind::RangeInsertDeleteHeavy,
                 .name = "range-idh",
                 .description = "V-Range with 70 % inserts and deletes",
                 .scans = true,
                 .preloads = true},
    WorkloadInfo{.kind = WorkloadKind::TpcC,
                 .name = "tpcc",
                 .description = "TPC-C on keys and values: 1 warehouse, 30,000 customers",
                 .keys = 0},
    WorkloadInfo{.kind = WorkloadKind::Rubis,
                 .name = "rubis",
                 .description = "an auction site: 20,000 users, 80,000 items",
                 .keys = 0},
    WorkloadInfo{.kind = WorkloadKind::Twitter,
                 .name = "twitter",
                 .description = "tweets, follows and timelines of 1,000 users",
                 .keys = 0},
    WorkloadInfo{.kind = WorkloadKind::Bank,
                 .name = "bank",
                 .description = "transfers between accounts, and audits of all of them",
                 .keys = 10,
                 .preloads = true},
    WorkloadInfo{.kind = WorkloadKind::Predicates,
                 .name = "predicates",
                 .description = "Emme's: rows, range selects, min, max, updates by predicate",
                 .ops_per_txn = 5,
                 .simulated = false,
                 .rows = true,
                 .preloads = true},
    WorkloadInfo{.kind = WorkloadKind::LostUpdate,
                 .name = "lost-update",
                 .description = "hunts lost updates: read a key, write it",
                 .keys = 16,
                 .preloads = true},
    WorkloadInfo{.kind = WorkloadKind::WriteSkew,
                 .name = "write-skew",
                 .description = "hunts write skew: read two keys, write one of them",
                 .keys = 16,
                 .preloads = true},
    WorkloadInfo{.kind = WorkloadKind::LongFork,
                 .name = "long-fork",
                 .description = "hunts long forks: write one key, or read two",
                 .keys = 16,
                 .preloads = true},
    WorkloadInfo{.kind = WorkloadKind::ReadSkew,
                 .name = "read-skew",
                 .description = "hunts read skew: write two keys, or read both",
                 .keys = 16,
                 .preloads = true},
    WorkloadInfo{.kind = WorkloadKind::Phantom,
                 .name = "phantom",
                 .description = "hunts phantoms: read a range, insert into it",
                 .keys = 8,
                 .scans = true},
    WorkloadInfo{.kind = WorkloadKind::FreshSkew,
                 .name = "fresh-skew",
                 .description = "hunts write skew on rows that are inserted and at once updated",
                 .keys = 2,
                 .scans = true},
};

constexpr bool in_order_of_enum() {
  for (std::size_t i = 0; i < kWorkloads.size(); ++i) {
    if (static_cast<std::size_t>(kWorkloads[i].kind) != i) return false;
  }
  return true;
}
static_assert(in_order_of_enum());

}  // namespace

std::span<const WorkloadInfo> workloads() { return kWorkloads; }

const WorkloadInfo* find_workload(std::string_view name) {
  const auto at = std::find_if(kWorkloads.begin(), kWorkloads.end(),
                               [&](const WorkloadInfo& workload) { return workload.name == name; });
  return at == kWorkloads.end() ? nullptr : &*at;
}

const WorkloadInfo& info(WorkloadKind kind) { return kWorkloads[static_cast<std::size_t>(kind)]; }

}  // namespace ouro
