/* SPDX-License-Identifier: BSD-3-Clause
 * counter - the names of events that can be counted
 */
#include "policy/counter.h"

#include <stdio.h>
#include <string.h>

/* Those of PAPI 7, without PAPI_; each with a blank behind it. Older versions have a few less. */
static const char presets[] =
	"BRU_IDL BR_CN BR_INS BR_MSP BR_NTK BR_PRC BR_TKN BR_UCN BTAC_M CA_CLN CA_INV CA_ITV CA_SHR CA_SNP "
	"CSR_FAL CSR_SUC CSR_TOT DP_OPS FAD_INS FDV_INS FMA_INS FML_INS FNV_INS FPU_IDL FP_INS FP_OPS "
	"FP_STAL FSQ_INS FUL_CCY FUL_ICY FXU_IDL HW_INT INT_INS L1_DCA L1_DCH L1_DCM L1_DCR L1_DCW L1_ICA "
	"L1_ICH L1_ICM L1_ICR L1_ICW L1_LDM L1_STM L1_TCA L1_TCH L1_TCM L1_TCR L1_TCW L2_DCA L2_DCH L2_DCM "
	"L2_DCR L2_DCW L2_ICA L2_ICH L2_ICM L2_ICR L2_ICW L2_LDM L2_STM L2_TCA L2_TCH L2_TCM L2_TCR L2_TCW "
	"L3_DCA L3_DCH L3_DCM L3_DCR L3_DCW L3_ICA L3_ICH L3_ICM L3_ICR L3_ICW L3_LDM L3_STM L3_TCA L3_TCH "
	"L3_TCM L3_TCR L3_TCW LD_INS LST_INS LSU_IDL MEM_RCY MEM_SCY MEM_WCY PRF_DM REF_CYC RES_STL SP_OPS "
	"SR_INS STL_CCY STL_ICY SYC_INS TLB_DM TLB_IM TLB_SD TLB_TL TOT_CYC TOT_IIS TOT_INS VEC_DP VEC_INS "
	"VEC_SP ";

static int is_preset(const char *name, size_t n)
{
	for (const char *p = presets; *p; p += strcspn(p, " ") + 1) {
		if (strcspn(p, " ") == n && !memcmp(p, name, n))
			return 1;
	}
	return 0;
}

enum counter_kernel counter_kernel(const char *name, size_t n)
{
	static const char *const names[] = {[COUNTER_CPU_TIME] = "perf::TASK-CLOCK",
	                                    [COUNTER_SWITCHES] = "perf::CONTEXT-SWITCHES",
	                                    [COUNTER_FAULTS] = "perf::PAGE-FAULTS",
	                                    [COUNTER_MINOR] = "perf::MINOR-FAULTS",
	                                    [COUNTER_MAJOR] = "perf::MAJOR-FAULTS"};
	unsigned i = 0;

	while (i < COUNTER_PAPI && (strlen(names[i]) != n || memcmp(names[i], name, n)))
		i++;
	return (enum counter_kernel)i;
}

const char *counter_preset(size_t i)
{
	static char name[40];
	const char *p = presets;

	for (; *p && i > 0; i--)
		p += strcspn(p, " ") + 1;
	if (!*p)
		return NULL;
	snprintf(name, sizeof name, "PAPI_%.*s", (int)strcspn(p, " "), p);
	return name;
}

/* COMPONENT::EVENT, both not empty. */
static int is_native(const char *name, size_t n)
{
	for (size_t i = 1; i + 2 < n; i++) {
		if (name[i] == ':' && name[i + 1] == ':')
			return name[0] != ':';
	}
	return 0;
}

static enum counter_problem check(const char *list, const char *name, size_t n)
{
	for (const char *p = list; p < name; p += strcspn(p, ",") + 1) {
		if (strcspn(p, ",") == n && !memcmp(p, name, n))
			return COUNTER_TWICE;
	}
	if (n > 5 && !memcmp(name, "PAPI_", 5))
		return is_preset(name + 5, n - 5) ? COUNTER_GOOD : COUNTER_UNKNOWN;
	return is_native(name, n) ? COUNTER_GOOD : COUNTER_FORM;
}

enum counter_problem counter_check(const char *list, const char **name, size_t *n)
{
	for (const char *p = list; *p; p += *p == ',') {
		size_t length = strcspn(p, ",");
		enum counter_problem problem = check(list, p, length);
		if (problem && name) {
			*name = p;
			*n = length;
		}
		if (problem)
			return problem;
		p += length;
	}
	return COUNTER_GOOD;
}
