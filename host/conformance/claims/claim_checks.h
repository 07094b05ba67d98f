// The checks of claims that lie in files of their own; claims.cc has the others and the list.
#pragma once

#include "host/conformance/kit/check.h"

namespace ephost::conformance {

void check_answers(const Subject& subject, Report& report);
void check_claims_compile(const Subject& subject, Report& report);
void check_foreign_domain(const Subject& subject, Report& report);
void check_time_of_claims(const Subject& subject, Report& report);

}  // namespace ephost::conformance
