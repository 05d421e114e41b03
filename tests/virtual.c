/* SPDX-License-Identifier: BSD-3-Clause
 * virtual - traces of programs that never ran, from a list of what their ranks do: for tests of what readers make of
 * them, which then do not depend on how busy a machine is
 *
 *     virtual OUT <lines
 *
 *     lossy                   it keeps no order
 *     size 4                  ranks
 *     hosts a a b b           where they are
 *     3 17 5000000 2000 0 t -1 7 w     rank 3 computes 5 ms, then calls number 17 for 2 us, with these values
 *
 * `t` is MPI_BYTE, `w` MPI_COMM_WORLD, `s` MPI_SUM; `[a,b` is an array. Site n is at offset 0x400 + 16 * n of /bin/x.
 */
#define FOUR(a) a, a, a, a
#define STATUS  " status.MPI_SOURCE:p status.MPI_TAG:i status.count:i"
/* tests/unseen.py knows them by their order. */
#define SAMPLE_SCHEMAS                                                                                                \
	"MPI_Init", "MPI_Finalize", FOUR("MPI_Send count:i datatype:t dest:p tag:i comm:c"),                          \
		FOUR("MPI_Recv count:i datatype:t source:p tag:i comm:c" STATUS),                                     \
		FOUR("MPI_Ssend count:i datatype:t dest:p tag:i comm:c"),                                             \
		FOUR("MPI_Isend count:i datatype:t dest:p tag:i comm:c request:r"),                                   \
		FOUR("MPI_Irecv count:i datatype:t source:p tag:i comm:c request:r"),                                 \
		FOUR("MPI_Wait request:r" STATUS),                                                                    \
		FOUR("MPI_Waitall count:i requests:[r statuses.MPI_SOURCE:[p statuses.MPI_TAG:[i statuses.count:[i"), \
		FOUR("MPI_Sendrecv sendcount:i sendtype:t dest:p sendtag:i recvcount:i recvtype:t source:p "          \
	             "recvtag:i comm:c" STATUS),                                                                      \
		FOUR("MPI_Bcast count:i datatype:t root:i comm:c"),                                                   \
		FOUR("MPI_Reduce sendbuf:b count:i datatype:t op:o root:i comm:c"),                                   \
		FOUR("MPI_Allreduce sendbuf:b count:i datatype:t op:o comm:c"), FOUR("MPI_Barrier comm:c"),           \
		FOUR("MPI_Gather sendbuf:b sendcount:i sendtype:t recvcount:i recvtype:t root:i comm:c"),             \
		FOUR("MPI_Scatter sendcount:i sendtype:t recvbuf:b recvcount:i recvtype:t root:i comm:c"),            \
		FOUR("MPI_Alltoall sendbuf:b sendcount:i sendtype:t recvcount:i recvtype:t comm:c"),                  \
		FOUR("MPI_Allgather sendbuf:b sendcount:i sendtype:t recvcount:i recvtype:t comm:c"),                 \
		FOUR("MPI_Iallreduce sendbuf:b count:i datatype:t op:o comm:c request:r")
#include "tests/unit/sample.h"
#include "trace/model/value.h"

enum { RANKS = 1024, VALUES = 16 };

struct writing {
	struct sample x;
	struct arena a;
	int64_t type, world, sum, any;
} * ranks[RANKS];

static uint32_t size;
static bool lossy;

static void begin_rank(uint32_t rank)
{
	struct writing *w = ranks[rank] = calloc(1, sizeof *w);
	if (!w || arena_create(&w->a, NULL, 32 * ARENA_MIN_SIZE, NULL) != 0)
		abort();
	sample_start(&w->x, &w->a, rank, size, 0);
	if (lossy)
		w->x.columns.threshold = w->x.record->threshold = 0;
	w->type = VALUE_CONSTANT + record_add_string(&w->a, w->x.record, "MPI_BYTE", 8);
	w->world = VALUE_CONSTANT + record_add_string(&w->a, w->x.record, "MPI_COMM_WORLD", 14);
	w->sum = VALUE_CONSTANT + record_add_string(&w->a, w->x.record, "MPI_SUM", 7);
	w->any = VALUE_CONSTANT + record_add_string(&w->a, w->x.record, "MPI_ANY_SOURCE", 14);
}

static int64_t value_of(struct writing *w, const char *word)
{
	int64_t array[VALUES], n = 0;
	char *end;
	if (*word == '[') {
		for (const char *p = word + 1; *p && n < VALUES; p = *end ? end + 1 : end)
			array[n++] = strtoll(p, &end, 10);
		return record_add_vector(&w->a, w->x.record, array, (size_t)n);
	}
	return *word == 't'   ? w->type
	       : *word == 'w' ? w->world
	       : *word == 's' ? w->sum
	       : *word == 'a' ? w->any
	                      : atoll(word);
}

static void event(char *line)
{
	char *rest, *word = strtok_r(line, " \n", &rest);
	uint32_t rank = (uint32_t)atol(word), n = 0;
	struct writing *w = ranks[rank];
	uint64_t number[3];
	int64_t values[VALUES] = {0};
	for (int i = 0; i < 3; i++)
		number[i] = strtoull(strtok_r(NULL, " \n", &rest), NULL, 10);
	while ((word = strtok_r(NULL, " \n", &rest)) && n < VALUES)
		values[n++] = value_of(w, word);
	w->x.compute = number[1] ? number[1] : 1;
	w->x.communicate = number[2] ? number[2] : 1;
	sample_event(&w->x, (uint32_t)number[0], values);
}

static void set_hosts(char *line)
{
	char *rest, *name = strtok_r(line, " \n", &rest);
	for (uint32_t r = 0; r < size && (name = strtok_r(NULL, " \n", &rest)); r++)
		ranks[r]->x.record->host = record_add_string(&ranks[r]->a, ranks[r]->x.record, name, strlen(name));
}

int main(int argc, char **argv)
{
	char line[8000];
	struct trace all = {0}, one = {0}, t = {0};
	struct error error = {""};
	uint8_t *bytes;
	size_t n;
	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "size %u", &size) == 1 && size <= RANKS)
			for (uint32_t r = 0; r < size; r++)
				begin_rank(r);
		else if (strncmp(line, "hosts ", 6) == 0)
			set_hosts(line);
		else if (strcmp(line, "lossy\n") == 0)
			lossy = true;
		else
			event(line);
	}
	if (argc != 2 || trace_init(&all) != 0)
		return 2;
	for (uint32_t r = 0; r < size; r++) {
		columns_free(&ranks[r]->x.columns);
		if (trace_extract(&one, &ranks[r]->a, &error) != 0 || merge_into(&all, &one, &error) != 0) {
			fprintf(stderr, "%s\n", error.text);
			return 1;
		}
		trace_free(&one);
		arena_close(&ranks[r]->a);
		free(ranks[r]);
	}
	if (merge_canonical(&t, &all, &error) != 0 || trace_encode(&t, NULL, 0, NULL, &bytes, &n) != 0)
		return 1;
	FILE *f = fopen(argv[1], "w");
	bool written = f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0;
	free(bytes);
	trace_free(&all);
	trace_free(&t);
	return !written;
}
