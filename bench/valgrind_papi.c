/* SPDX-License-Identifier: BSD-3-Clause
 * valgrind_papi - a libpapi whose counters are callgrind's, for machines without counters; never installed
 *
 * For a process that runs under
 *
 *     valgrind --tool=callgrind --cache-sim=yes --branch-sim=yes --callgrind-out-file=$CALLGRIND_COUNTS/%p
 *
 * Each reading lets callgrind write what was counted since the one before, and adds the totals of that file. Nothing is
 * counted meanwhile, but the simulated cache sees it: only the end of the file is read, which has the totals.
 *
 * With CALLGRIND_KEPT, a folder, each rank also keeps there what it read. Without callgrind, the same program is given
 * that again, reading by reading: so a trace has both the counts and the times of this machine.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#include "tests/papi/library.h"

/* callgrind's events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim */
enum { IR, DR, DW, I1MR, D1MR, D1MW, ILMR, DLMR, DLMW, BC, BCM, BI, BIM, TOTALS };

static const struct event {
	const char *name;
	int sum[2];
} known[] = {{"PAPI_TOT_INS", {IR, -1}},    {"PAPI_LD_INS", {DR, -1}},     {"PAPI_SR_INS", {DW, -1}},
             {"PAPI_L1_DCM", {D1MR, D1MW}}, {"PAPI_L3_TCM", {DLMR, DLMW}}, {"PAPI_BR_CN", {BC, -1}},
             {"PAPI_BR_MSP", {BCM, BIM}}};

static long long totals[TOTALS];
static int dumps;

static const char *event_name(int code)
{
	return code < (int)(sizeof known / sizeof *known) ? known[code].name : NULL;
}

static int fails(const char *what)
{
	(void)what;
	return 0;
}

static int fits(int first, int code)
{
	(void)first, (void)code;
	return 1;
}

/* The rank's file; -1: nothing is kept. */
static int kept_file(int flags)
{
	char path[4096];
	const char *folder = getenv("CALLGRIND_KEPT"), *rank = getenv("OMPI_COMM_WORLD_RANK");
	snprintf(path, sizeof path, "%s/%s", folder ? folder : "", rank ? rank : "none");
	return folder && rank ? open(path, flags | O_CLOEXEC, 0600) : -1;
}

static void play_totals(void)
{
	static int kept = -2;
	long long next[TOTALS];
	kept = kept == -2 ? kept_file(O_RDONLY) : kept;
	if (kept >= 0 && read(kept, next, sizeof next) == (ssize_t)sizeof next)
		memcpy(totals, next, sizeof totals);
}

static void keep_totals(void)
{
	static int kept = -2;
	kept = kept == -2 ? kept_file(O_WRONLY | O_CREAT | O_TRUNC) : kept;
	if (kept >= 0 && write(kept, totals, sizeof totals) < 0)
		kept = -1;
}

static void read_totals(void)
{
	static char bytes[512];
	char path[4096];
	if (!RUNNING_ON_VALGRIND) {
		play_totals();
		return;
	}
	CALLGRIND_TOGGLE_COLLECT;
	CALLGRIND_DUMP_STATS;
	const char *folder = getenv("CALLGRIND_COUNTS"), *at = NULL;
	snprintf(path, sizeof path, "%s/%d.%d", folder ? folder : ".", (int)getpid(), ++dumps);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		off_t size = lseek(fd, 0, SEEK_END);
		lseek(fd, size > 400 ? size - 400 : 0, SEEK_SET);
		ssize_t n = read(fd, bytes, sizeof bytes - 1);
		bytes[n > 0 ? n : 0] = '\0';
		at = strstr(bytes, "totals:");
		close(fd);
		unlink(path);
	}
	at += at ? strlen("totals:") : 0;
	for (int i = 0; at && i < TOTALS; i++)
		totals[i] += strtoll(at, (char **)&at, 10);
	keep_totals();
	CALLGRIND_TOGGLE_COLLECT;
}

int PAPI_start(int set)
{
	(void)set;
	return 0;
}

int PAPI_read(int set, long long *values)
{
	read_totals();
	for (int i = 0; i < count[set]; i++) {
		const struct event *e = &known[events[set][i]];
		values[i] = totals[e->sum[0]] + (e->sum[1] >= 0 ? totals[e->sum[1]] : 0);
	}
	return 0;
}

int PAPI_stop(int set, long long *values)
{
	(void)set, (void)values;
	return 0;
}
