/* SPDX-License-Identifier: BSD-3-Clause
 * symbols - unit test of cmd/base/symbols.c: linkers' names as the source has them
 */
#include "cmd/base/symbols.h"

#include <string.h>

#include "tests/unit/tap.h"

static void reads(const char *name, const char *expected)
{
	char out[256];
	symbol_readable(name, out, sizeof out);
	ok(strcmp(out, expected) == 0, "%s is %s (%s)", name, expected, out);
}

int main(void)
{
	char small[8];

	/* what is not understood stays */
	reads("", "");
	reads("_", "_");
	reads("_Z", "_Z");
	reads("_R", "_R");
	reads("_RNvC", "_RNvC");
	reads("_RNvC99999999999999999999a", "_RNvC99999999999999999999a");
	reads("_RNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvC1a",
	      "_RNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvNvC1a");
	reads("_QM", "_QM");
	reads("__x_MOD", "__x_MOD");

	reads("main", "main");
	reads("MAIN__", "MAIN__");
	reads("PMPI_Send", "PMPI_Send");
	reads("__libc_start_main@@GLIBC_2.34", "__libc_start_main");
	reads("_start", "_start");
	reads("a__", "a__");

	reads("_ZN4Foam3PCG11scalarSolveEv", "Foam::PCG::scalarSolve");
	reads("_ZN8parallel4poolIdE3sumEdi", "parallel::pool::sum");
	reads("_Z5totalIdET_S0_P22ompi_communicator_t", "_Z5totalIdET_S0_P22ompi_communicator_t"); /* cut */
	reads("_Z5totalIdET_S0_i", "total");
	reads("_ZN12_GLOBAL__N_14normEdi", "(anonymous namespace)::norm");
	reads("_ZNK6solver8smootherclEd", "solver::smoother::operator()");
	reads("_ZN1alsERKS_", "a::operator<<");
	reads("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	reads("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
	reads("_RINvNtC3std3mem8align_ofdE", "std::mem::align_of");
	reads("__force_MOD_tersoff", "force::tersoff");
	reads("solve_", "solve");
	reads("force_mp_tersoff_", "force::tersoff");
	reads("_QMforcePtersoff", "force::tersoff");
	reads("_QPsolve", "solve");

	symbol_readable("_ZN4Foam3PCG11scalarSolveEv", small, sizeof small);
	ok(strcmp(small, "Foam::P") == 0, "cut to size (%s)", small);
	symbol_readable("__force_MOD_tersoff", small, sizeof small);
	ok(strcmp(small, "force::") == 0, "cut to size (%s)", small);
	return tap_end();
}
