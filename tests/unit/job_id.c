/* SPDX-License-Identifier: BSD-3-Clause
 * job_id - what is no job id, and what each form means; states of jobs
 */
#include "archive/job_id.h"

#include <string.h>

#include "archive/job_state.h"
#include "tests/unit/tap.h"

static void test_bad(void)
{
	static const char *const bad[] = {"",
	                                  "x",
	                                  "-1",
	                                  " 1",
	                                  "1 ",
	                                  "1_",
	                                  "1+",
	                                  "1_x",
	                                  "1.",
	                                  "1..0",
	                                  "1.0.",
	                                  "1.0.x",
	                                  "1.0.0.0",
	                                  "1_2+3",
	                                  "_1",
	                                  "1,",
	                                  ",1",
	                                  "1,,2",
	                                  "1.BATCH",
	                                  "4294967296",
	                                  "1_**",
	                                  "1.averyveryverylongstep",
	                                  "99999999999999999999"};
	struct job_ids ids = {.count = 7};
	char many[JOB_IDS_MOST * 2 + 3] = "";

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(job_id_parse_list(&ids, bad[i]) == -1 && ids.count == 7, "refused: \"%s\"", bad[i]);
	for (int i = 0; i <= JOB_IDS_MOST; i++)
		strcat(many, i ? ",1" : "1");
	ok(job_id_parse_list(&ids, many) == -1, "refused: one more than there is room for");
	ok(job_id_parse_list(&ids, many + 2) == 0 && ids.count == JOB_IDS_MOST, "as many as there is room for");
}

static void means(const char *text, int64_t job, int64_t task, int64_t component, const char *step, const char *trace)
{
	struct job_id id = {.job = -1};
	ok(job_id_parse(&id, text) == 0 && id.job == job && id.task == task && id.component == component &&
	           !strcmp(id.step, step) && !strcmp(id.trace, trace),
	   "%s: job %d, task %d, component %d, step \"%s\", trace \"%s\"", text, (int)id.job, (int)id.task,
	   (int)id.component, id.step, id.trace);
}

static void test_forms(void)
{
	struct job_ids ids;
	means("23", 23, -1, -1, "", "");
	means("24_3", 24, 3, -1, "", "");
	means("24_0.5", 24, 0, -1, "5", "");
	means("24_*", 24, -1, -1, "", "");
	means("27+1", 27, -1, 1, "", "");
	means("23.5", 23, -1, -1, "5", "");
	means("23.batch", 23, -1, -1, "batch", "");
	means("23.batch.1", 23, -1, -1, "batch", "*.batch.1");
	means("4294967295.0.0", 4294967295, -1, -1, "0", "*.0.0");
	ok(job_id_parse_list(&ids, "1,24_3,2.batch") == 0 && ids.count == 3 && ids.items[1].task == 3, "a list");
}

static void test_states(void)
{
	static const char *const good[] = {"CD", "completed", "F,TIMEOUT", "to,ca,OOM,nf,PR,KILLED"},
				 *const bad[] = {"", "x", "CD,", ",CD", "RUNNING", "COMPLETE", "CD F"};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		ok(job_state_check_list(good[i]) == 0, "states: %s", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(job_state_check_list(bad[i]) == -1, "no states: \"%s\"", bad[i]);
}

int main(void)
{
	test_bad();
	test_forms();
	test_states();
	return tap_end();
}
