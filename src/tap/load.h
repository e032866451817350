// Reads what tables hold when a log begins, by the snapshot that goes with the log.
#pragma once

#include <cstdint>
#include <string>

#include "db/postgres_link.h"
#include "ouro/result.h"
#include "tap/assembler.h"
#include "tap/catalog.h"

namespace ouro::tapping {

// `wanted`: "tables" for all that can be judged, or names with commas between them,
// "stock,shop.orders". Returns the number of rows. Memory: some rows, and what the assembler keeps
// of each.
[[nodiscard]] Result<std::uint64_t> load_tables(db::PostgresLink& link, const std::string& snapshot,
                                                const Catalog& catalog, const std::string& wanted,
                                                Assembler& assembler);

}  // namespace ouro::tapping
