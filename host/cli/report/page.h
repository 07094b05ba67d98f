// The common parts of the commands' HTML pages: one file without external resources, drawn by
// a script from data in the page, in the colours that the reader's system asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/cli/report/json.h"

namespace ephost::cli {

// The page with its style and script. `data` is what the script draws; its texts must have gone
// through page_text. `script` defines `draw(section, graph)`, which is called for each element of
// data.graphs with the section that has its heading.
[[nodiscard]] std::string make_page(std::string_view title, const Json& data,
                                    std::string_view script);

// A text for the data of a page: as it may be displayed, and cut to so many bytes by leaving out
// its middle.
inline constexpr size_t kWholeText = SIZE_MAX;
[[nodiscard]] std::string page_text(std::string_view text, size_t max_bytes = kWholeText);

// Names for the data of a page, which are often alike but for their numbers: `forms` has names with
// a tab in the place of each number, and `numbers` for each name the index of its form and what its
// numbers exceed those of the last name of this form by. Where a form begins as the one before, a
// character says how much of that is repeated. `longest` is the most bytes of a name.
[[nodiscard]] Json packed_names(std::span<const std::string> names, size_t longest = kWholeText);

// Numbers in pairs: one, and how many times it follows itself.
[[nodiscard]] std::vector<int64_t> run_lengths(std::span<const int64_t> numbers);

}  // namespace ephost::cli
