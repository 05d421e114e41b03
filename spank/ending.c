/* SPDX-License-Identifier: BSD-3-Clause
 * ending - why a step ended, as Slurm and the kernel know it
 */
#include "spank/ending.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <slurm/slurm.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The number in the line "oom_kill N". */
static uint64_t oom_line(const char *path)
{
	char text[4096];

	if (!read_file(path, text, sizeof text))
		return 0;
	for (const char *line = text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
		if (!strncmp(line, "oom_kill ", 9))
			return strtoull(line + 9, NULL, 10);
	}
	return 0;
}

/* slurmstepd is in a leaf beside that of the tasks: ask the step's. Counts of version 2 include what is below. */
static void step_of(char *path)
{
	size_t n = strlen(path);
	if (n > 6 && !strcmp(path + n - 6, "/slurm"))
		path[n - 6] = '\0';
}

uint64_t ending_oom_kills(const char *text, const char *root)
{
	uint64_t most = 0;
	char own[2048], path[4608];

	for (const char *line = text; line && *line; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
		const char *controllers = strchr(line, ':'), *where = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!where)
			continue;
		bool second = where == controllers + 1, memory = !strncmp(controllers, ":memory:", 8) || memmem(controllers, (size_t)(where - controllers), ",memory", 7);
		if (!second && !memory)
			continue;
		snprintf(own, sizeof own, "%.*s", (int)strcspn(where + 1, "\n"), where + 1);
		step_of(own);
		if (strstr(own, ".."))
			continue;
		snprintf(path, sizeof path, second ? "%s%s/memory.events" : "%s/memory%s/memory.oom_control", root, own);
		uint64_t count = oom_line(path);
		most = count > most ? count : most;
	}
	return most;
}

uint64_t ending_own_oom_kills(void)
{
	char text[8192];
	return read_file("/proc/self/cgroup", text, sizeof text) ? ending_oom_kills(text, "/sys/fs/cgroup") : 0;
}

const char *ending_of_job(uint32_t job)
{
	/* of the process that loaded the plugin, which need not be slurmstepd */
	int (*load)(job_info_msg_t **, uint32_t, uint16_t) = (int (*)(job_info_msg_t **, uint32_t, uint16_t))dlsym(RTLD_DEFAULT, "slurm_load_job");
	void (*release)(job_info_msg_t *) = (void (*)(job_info_msg_t *))dlsym(RTLD_DEFAULT, "slurm_free_job_info_msg");
	job_info_msg_t *message = NULL;
	const char *found = NULL;

	if (!load || !release || load(&message, job, 0) != SLURM_SUCCESS || !message)
		return NULL;
	for (uint32_t i = 0; i < message->record_count; i++) {
		if (message->job_array[i].job_id != job)
			continue;
		switch (message->job_array[i].job_state & JOB_STATE_BASE) {
		case JOB_TIMEOUT:
		case JOB_DEADLINE:
			found = "time-limit";
			break;
		case JOB_CANCELLED:
			found = "cancelled";
			break;
		case JOB_PREEMPTED:
			found = "preempted";
			break;
		case JOB_NODE_FAIL:
			found = "node-lost";
			break;
		case JOB_OOM:
			found = "oom";
			break;
		}
	}
	release(message);
	return found;
}

const char *ending_of_step(uint32_t job, uint32_t step)
{
	int (*load)(time_t, uint32_t, uint32_t, job_step_info_response_msg_t **, uint16_t) =
		(int (*)(time_t, uint32_t, uint32_t, job_step_info_response_msg_t **, uint16_t))dlsym(RTLD_DEFAULT, "slurm_get_job_steps");
	void (*release)(job_step_info_response_msg_t *) =
		(void (*)(job_step_info_response_msg_t *))dlsym(RTLD_DEFAULT, "slurm_free_job_step_info_response_msg");
	job_step_info_response_msg_t *message = NULL;
	const char *found = NULL;

	if (!load || !release || load(0, job, step, &message, SHOW_ALL) != SLURM_SUCCESS || !message)
		return NULL;
	for (uint32_t i = 0; i < message->job_step_count; i++) {
		const job_step_info_t *s = &message->job_steps[i];
		if (s->step_id.job_id == job && s->step_id.step_id == step && s->time_limit != INFINITE && s->time_limit != NO_VAL &&
		    s->run_time >= (time_t)s->time_limit * 60)
			found = "time-limit";
	}
	release(message);
	return found;
}
