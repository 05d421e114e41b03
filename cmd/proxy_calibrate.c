/* SPDX-License-Identifier: BSD-3-Clause
 * proxy_calibrate - `spoor proxy --calibrate`
 */
#include "cmd/proxy_calibrate.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/base/sink.h"
#include "cmd/base/status.h"
#include "policy/counter.h"
#include "proxy/calibrate.h"

static void print_calibration(const struct calibration *c, const char *path)
{
	say("%-22s", "OF ONE TURN");
	for (int b = 0; b <= BLOCK_CALL; b++)
		say(" %9s", blocks_name[b]);
	say("\n%-22s", "ns");
	for (int b = 0; b <= BLOCK_CALL; b++)
		say(" %9.4g", c->ns[b]);
	for (size_t i = 0; i < c->counter_count; i++) {
		say("\n%-22s", c->counters[i].name);
		for (int b = 0; b <= BLOCK_CALL; b++)
			say(" %9.4g", c->counters[i].counts[b]);
	}
	say("\n\nKept in %s\n", path);
}

int proxy_calibrate(void)
{
	static struct calibration c;
	struct error error = {""};
	char path[PATH_MAX];
	const char *compiler = getenv("CC");
	if (calibration_path(path, sizeof path, &error) != 0 ||
	    calibrate_blocks(&c, compiler && *compiler ? compiler : "cc", counter_preset, &error) != 0 ||
	    calibration_write(&c, path, &error) != 0) {
		say_to(stderr, "spoor proxy: %s\n", error.text);
		return CMD_FAILED;
	}
	print_calibration(&c, path);
	return CMD_OK;
}

const struct calibration *proxy_calibration(const struct trace *t, int *status)
{
	static struct calibration c;
	struct error error = {""};
	char path[PATH_MAX];
	if (t->counter_count == 0)
		return NULL;
	int rv = calibration_path(path, sizeof path, &error) == 0 ? calibration_read(&c, path, &error) : 1;
	if (rv == 0)
		return &c;
	if (rv < 0) {
		say_to(stderr, "spoor proxy: %s\n", error.text);
		*status = CMD_FAILED;
	} else {
		say_to(stderr,
		       "spoor proxy: the trace has counters, but the blocks were not measured here: computations take "
		       "as long as they took. \"spoor proxy --calibrate\" measures them\n");
	}
	return NULL;
}
