/* SPDX-License-Identifier: BSD-3-Clause
 * job_id - jobs and steps as Slurm writes them, in lists
 */
#include "archive/job_id.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/number.h"

/* "5", "batch", "interactive", and the number of a trace behind it. */
static int read_step(struct job_id *id, const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz", digits[] = "0123456789";
	size_t n = strspn(text, digits);
	uint64_t number;

	n = n ? n : strspn(text, letters);
	if (n == 0 || n >= sizeof id->step || (text[n] && text[n] != '.'))
		return -1;
	snprintf(id->step, sizeof id->step, "%.*s", (int)n, text);
	if (!text[n])
		return 0;
	if (number_parse(text + n + 1, UINT32_MAX, &number) != 0)
		return -1;
	snprintf(id->trace, sizeof id->trace, "*.%s.%s", id->step, text + n + 1);
	return 0;
}

int job_id_parse(struct job_id *id, const char *text)
{
	struct job_id one = {.task = -1, .component = -1};
	uint64_t job, number;

	if (number_read(&text, UINT32_MAX, &job) != 0)
		return -1;
	one.job = (int64_t)job;
	if (text[0] == '_' && text[1] == '*') {
		text += 2;
	} else if (*text == '_' || *text == '+') {
		int64_t *part = *text++ == '_' ? &one.task : &one.component;
		if (number_read(&text, UINT32_MAX, &number) != 0)
			return -1;
		*part = (int64_t)number;
	}
	if (*text && (*text != '.' || read_step(&one, text + 1) != 0))
		return -1;
	*id = one;
	return 0;
}

int job_id_parse_list(struct job_ids *ids, const char *text)
{
	struct job_ids all = {.count = 0};
	char one[64];

	for (;; text++) {
		size_t n = strcspn(text, ",");
		if (all.count == JOB_IDS_MOST || n >= sizeof one)
			return -1;
		snprintf(one, sizeof one, "%.*s", (int)n, text);
		if (job_id_parse(&all.items[all.count++], one) != 0)
			return -1;
		text += n;
		if (!*text)
			break;
	}
	*ids = all;
	return 0;
}
