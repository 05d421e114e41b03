/* SPDX-License-Identifier: BSD-3-Clause
 * step - what Slurm knows of the job step that this slurmstepd runs
 */
#include "spank/step.h"

#include <inttypes.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/number.h"

static void name_step(struct step *step)
{
	switch (step->id) {
	case SLURM_BATCH_SCRIPT:
		strcpy(step->id_text, "batch");
		break;
	case SLURM_EXTERN_CONT:
		strcpy(step->id_text, "extern");
		break;
	case SLURM_INTERACTIVE_STEP:
		strcpy(step->id_text, "interactive");
		break;
	default:
		snprintf(step->id_text, sizeof step->id_text, "%" PRIu32, step->id);
	}
}

/* The node's name as Slurm knows it: several nodes may be one host. It becomes part of a file name. */
static void name_node(struct step *step, spank_t spank)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	const char *own = getenv("SLURMD_NODENAME");

	if (own)
		snprintf(step->node, sizeof step->node, "%s", own);
	else if (spank_getenv(spank, "SLURMD_NODENAME", step->node, sizeof step->node) != ESPANK_SUCCESS)
		step->node[0] = '\0';
	if (!step->node[0] || step->node[0] == '.' || strspn(step->node, plain) != strlen(step->node))
		snprintf(step->node, sizeof step->node, "node%" PRIu32, step->node_index);
}

int step_read(struct step *step, spank_t spank, struct error *error)
{
	gid_t *groups = NULL;
	int n = 0;

	*step = (struct step){0};
	if (spank_get_item(spank, S_JOB_ID, &step->job) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_STEPID, &step->id) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_UID, &step->identity.uid) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_GID, &step->identity.gid) != ESPANK_SUCCESS)
		return error_set(error, "Slurm does not say job, step or user");
	if (spank_get_item(spank, S_JOB_NODEID, &step->node_index) != ESPANK_SUCCESS)
		step->node_index = 0;
	if (spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &n) == ESPANK_SUCCESS && groups && n > 0) {
		size_t most = sizeof step->groups / sizeof step->groups[0];
		step->identity.group_count = (size_t)n < most ? (size_t)n : most;
		memcpy(step->groups, groups, step->identity.group_count * sizeof *groups);
	}
	step->identity.groups = step->groups;
	name_step(step);
	name_node(step, spank);
	return 0;
}

bool step_has_tasks(const struct step *step)
{
	return step->id != SLURM_EXTERN_CONT;
}

static void add_number(struct facts *facts, const char *name, spank_t spank, spank_item_t item)
{
	uint32_t value;
	if (spank_get_item(spank, item, &value) == ESPANK_SUCCESS)
		facts_format(facts, name, "%" PRIu32, value);
}

/* 0 is what Slurm says where it does not know: of the nodes of a batch step, and of requeues in steps of srun. The
 * environment knows then. */
static void add_number_or_variable(struct facts *facts, const char *name, spank_t spank, spank_item_t item,
                                   const char *variable)
{
	char value[16];
	uint64_t number;

	add_number(facts, name, spank, item);
	if (facts_number(facts, name, 0) == 0 && spank_getenv(spank, variable, value, sizeof value) == ESPANK_SUCCESS &&
	    number_parse(value, UINT32_MAX, &number) == 0)
		facts_format(facts, name, "%" PRIu64, number);
}

/* A variable of the job's environment. Slurm sets these, but a user can change them for steps that a script starts:
 * they are what the job says of itself, and nothing that rights depend on. */
static void add_variable(struct facts *facts, const char *name, spank_t spank, const char *variable)
{
	char value[4096];
	if (!facts_get(facts, name) && spank_getenv(spank, variable, value, sizeof value) == ESPANK_SUCCESS && value[0])
		facts_set(facts, name, value);
}

/* Which component of a heterogeneous job this is: each has a job id of its own. */
static void add_het_component(const struct step *step, spank_t spank, struct facts *facts)
{
	int64_t size = facts_number(facts, "het_size", 0);

	for (int i = 0; i < size && i < 1024; i++) {
		char variable[64], value[32];
		uint64_t job;
		snprintf(variable, sizeof variable, "SLURM_JOB_ID_HET_GROUP_%d", i);
		if (spank_getenv(spank, variable, value, sizeof value) == ESPANK_SUCCESS &&
		    number_parse(value, UINT32_MAX, &job) == 0 && job == step->job) {
			facts_format(facts, "het_component", "%d", i);
			return;
		}
	}
}

/* Slurm's commands are in the folder `bin` beside that of slurmstepd. */
static void add_commands(struct facts *facts)
{
	char path[2048];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(path, '/');

	if (slash)
		facts_format(facts, "slurm_bin", "%.*s/../bin", (int)(slash - path), path);
}

static void add_groups(const struct step *step, struct facts *facts)
{
	char text[FACT_VALUE_MAX] = "";
	size_t n = 0;

	for (size_t i = 0; i < step->identity.group_count && n + 16 < sizeof text; i++)
		n += (size_t)sprintf(text + n, "%s%lu", i ? "," : "", (unsigned long)step->identity.groups[i]);
	facts_set(facts, "gids", n ? text : NULL);
}

void step_facts(const struct step *step, spank_t spank, struct facts *facts)
{
	static const struct {
		const char *name, *variable;
	} variables[] = {
		{"job_name", "SLURM_JOB_NAME"},
		{"account", "SLURM_JOB_ACCOUNT"},
		{"partition", "SLURM_JOB_PARTITION"},
		{"qos", "SLURM_JOB_QOS"},
		{"cluster", "SLURM_CLUSTER_NAME"},
		{"node_list", "SLURM_STEP_NODELIST"},
		{"node_list", "SLURM_JOB_NODELIST"},
		{"tasks_per_node", "SLURM_STEP_TASKS_PER_NODE"},
		{"tasks_per_node", "SLURM_TASKS_PER_NODE"},
		{"reservation", "SLURM_JOB_RESERVATION"},
		{"container", "SLURM_CONTAINER"},
		{"container", "SLURM_SPANK__SLURM_SPANK_OPTION_pyxis_container_image"},
		{"job_start", "SLURM_JOB_START_TIME"},
		{"job_end", "SLURM_JOB_END_TIME"},
		{"het_job_id", "SLURM_JOB_ID_HET_GROUP_0"},
		{"het_size", "SLURM_HET_SIZE"},
	};
	uint32_t array = 0, task = 0;
	char *version = NULL;

	facts_format(facts, "job", "%" PRIu32, step->job);
	facts_set(facts, "step", step->id_text);
	facts_format(facts, "uid", "%lu", (unsigned long)step->identity.uid);
	facts_format(facts, "gid", "%lu", (unsigned long)step->identity.gid);
	facts_set(facts, "node", step->node);
	facts_format(facts, "node_index", "%" PRIu32, step->node_index);
	add_number_or_variable(facts, "nodes", spank, S_JOB_NNODES, "SLURM_JOB_NUM_NODES");
	add_number(facts, "tasks", spank, S_JOB_TOTAL_TASK_COUNT);
	add_number(facts, "local_tasks", spank, S_JOB_LOCAL_TASK_COUNT);
	add_number_or_variable(facts, "restart", spank, S_SLURM_RESTART_COUNT, "SLURM_RESTART_COUNT");
	/* A job that is no array says that it is its own array, without a task. */
	if (spank_get_item(spank, S_JOB_ARRAY_ID, &array) == ESPANK_SUCCESS && array != 0 && array != NO_VAL &&
	    spank_get_item(spank, S_JOB_ARRAY_TASK_ID, &task) == ESPANK_SUCCESS && task != NO_VAL) {
		facts_format(facts, "array_job", "%" PRIu32, array);
		facts_format(facts, "array_task", "%" PRIu32, task);
	}
	if (spank_get_item(spank, S_SLURM_VERSION, &version) == ESPANK_SUCCESS)
		facts_set(facts, "slurm_version", version);
	facts_set(facts, "slurm_conf", getenv("SLURM_CONF")); /* of slurmd: not the job's */
	add_commands(facts);
	add_groups(step, facts);
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
		add_variable(facts, variables[i].name, spank, variables[i].variable);
	add_het_component(step, spank, facts);
}
