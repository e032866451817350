// Which versions a predicate read may have seen by its version set, where values repeat.
//
// A version set lists values. Several versions of a row may have the value that it lists; and if it
// does not list the row, that was absent, as it may have been several times.
#pragma once

#include <cstdint>
#include <vector>

#include "check/observed/observed.h"
#include "check/versions/row_versions.h"

namespace ouro {

// By position, whether `read` may have seen that version of `key`: it has the value that the
// version set lists, or stands beside such a version and is the same to the read
// (RowVersions::Part). No read sees what its own transaction writes later. REQUIRES: the read is a
// select or aggregate with a version set. Cost: linear in the version set and the versions of the
// key.
[[nodiscard]] std::vector<bool> listed_versions(const Observed& observed, const RowVersions& rows,
                                                OpId read, KeyId key);
// The same, if the value that the version set lists is known; null: it lists none.
[[nodiscard]] std::vector<bool> listed_versions(const Observed& observed, const RowVersions& rows,
                                                OpId read, KeyId key, Value listed);

// The position of the first of them, if they all stand together; RowVersions::kSeveral if they do
// not, and kNone if there is none.
[[nodiscard]] std::uint32_t only_place(const std::vector<bool>& listed);

}  // namespace ouro
