/* SPDX-License-Identifier: BSD-3-Clause
 * chrome - `spoor export --chrome FILE`: the JSON of Chrome's trace viewer, which Perfetto opens too
 *
 * A process is a rank, a thread a thread. A call is a complete event ("X") with its parameters; a message is a flow
 * from the call that sends it to the one in which it is received. Written as it comes: memory does not depend on the
 * number of events.
 */
#include "cmd/export/exporter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/print_event.h"
#include "cmd/base/sink.h"
#include "cmd/base/sink_json.h"
#include "trace/model/host.h"
#include "trace/base/index.h"
#include "insight/hang.h"

static void put_string(FILE *out, const char *text)
{
	json_print_text(out, text, strlen(text));
}

/* A time in us, exact to the ns. */
static void put_us(FILE *out, const char *name, uint64_t ns)
{
	say_to(out, ",\"%s\":%" PRIu64 ".%03u", name, ns / 1000, (unsigned)(ns % 1000));
}

static void put_header(struct export *x, FILE *out)
{
	const struct trace *t = x->trace;
	char host[HOST_MAX], label[HOST_MAX + 32], times[EVENT_CLOCK_SAYS];
	int64_t unused;
	say_to(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"spoor " PACKAGE_VERSION "\"");
	static const char *const keys[] = {"cluster", "job", "step", "job_name", "user",    "start",
	                                   "end",     "exe", "mode", "state",    "partial", "reason"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const json_t *value = x->meta ? json_object_get(x->meta, keys[i]) : NULL;
		if (value) {
			say_to(out, ",\"%s\":", keys[i]);
			json_print(out, value, JSON_COMPACT | JSON_ENCODE_ANY);
		}
	}
	say_to(out, ",\"times\":\"%s\"},\n\"traceEvents\":[", event_clock_says(t, times));
	bool first = true;
	for (uint64_t stream = 0; rankmap_next(&t->events, &stream, &unused); stream++) {
		uint32_t rank = stream_rank(t, (uint32_t)stream), thread = stream_thread(t, (uint32_t)stream);
		if (thread == 0) {
			host_get(t, (uint32_t)stream, host);
			snprintf(label, sizeof label, "rank %u%s%s", rank, host[0] ? " on " : "", host);
			say_to(out, first ? "\n" : ",\n");
			say_to(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":", rank);
			put_string(out, label);
			say_to(out,
			       "}},\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%u,\"args\":{\"sort_"
			       "index\":%u}}",
			       rank, rank);
			first = false;
		}
		say_to(out, first ? "\n" : ",\n");
		say_to(out, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"%s\"}}",
		       rank, thread, thread ? "MPI calls of a thread" : "MPI calls");
		first = false;
	}
}

/* The parameters of a call as one text, as `spoor dump` prints them. */
static int put_parameters(struct track *t, FILE *out, FILE *scratch, char **text, size_t *size)
{
	rewind(scratch);
	print_event(scratch, t->export->trace, &t->event);
	if (fflush(scratch) != 0)
		return -1;
	size_t n = (size_t)ftell(scratch);
	const char *begin = *text, *end = *text + (n < *size ? n : *size);
	for (int words = 0; words < 2 && begin < end; begin++) /* the number and the function */
		words += *begin == ' ' || *begin == '\n';
	while (end > begin && end[-1] == '\n')
		end--;
	say_to(out, ",\"args\":{\"event\":%" PRIu64, t->event.number);
	if (end > begin) {
		say_to(out, ",\"call\":");
		json_print_text(out, begin, (size_t)(end - begin));
	}
	if (t->export->paths[t->event.site][0]) {
		say_to(out, ",\"from\":");
		put_string(out, t->export->paths[t->event.site]);
	}
	say_to(out, "}");
	return 0;
}

/* The same number on both sides of a message. */
static uint64_t flow(const struct act *m, uint32_t from, uint32_t to)
{
	uint64_t id = hash_mix(hash_mix(hash_mix(hash_mix(hash_mix(hash_mix(17, m->partitioned), m->comm), from), to),
	                                (uint64_t)m->tag),
	                       m->number);
	return id >> 11; /* readers keep numbers as doubles */
}

static void put_flow(struct track *t, FILE *out, const struct act *m)
{
	uint32_t self = stream_rank(t->export->trace, t->stream), thread = stream_thread(t->export->trace, t->stream);
	bool sent = m->kind == ACT_SEND || m->kind == ACT_SEND_BEGIN,
	     received = m->kind == ACT_RECV || m->kind == ACT_RECV_END;
	if ((!sent && !received) || m->peer == RANK_UNKNOWN || m->comm == COMM_UNKNOWN)
		return;
	say_to(out,
	       ",\n{\"ph\":\"%s\",%s\"cat\":\"message\",\"name\":\"message\",\"id\":%" PRIu64 ",\"pid\":%u,\"tid\":%u",
	       sent ? "s" : "f", sent ? "" : "\"bp\":\"e\",", sent ? flow(m, self, m->peer) : flow(m, m->peer, self),
	       self, thread);
	put_us(out, "ts", sent || t->end == t->begin ? t->begin : t->end - 1); /* inside the call */
	if (sent && m->sized)
		say_to(out, ",\"args\":{\"bytes\":%" PRIu64 ",\"to\":%u,\"tag\":%" PRId64 "}", m->bytes, m->peer,
		       m->tag);
	say_to(out, "}");
}

/* The call that a killed rank was in, to its end. Its time is the mean of the ranks in it. */
static void put_unended(const struct track *t, FILE *out)
{
	const struct trace *trace = t->export->trace;
	const struct trace_unended *u = unended_of(trace, t->stream);
	if (!u || !u->call)
		return;
	const struct schema *s = trace_schema(trace, &trace->sites[u->site]);
	say_to(out, ",\n{\"ph\":\"X\",\"cat\":\"MPI\",\"name\":\"%.*s (never ended)\",\"pid\":%u,\"tid\":%u",
	       (int)s->function_length, s->function, stream_rank(trace, t->stream), stream_thread(trace, t->stream));
	put_us(out, "ts", t->end);
	put_us(out, "dur", u->sum / rankmap_size(&u->ranks));
	say_to(out, "}");
}

static int chrome_rank(struct export *x, FILE *out, uint32_t stream)
{
	struct track t;
	char *text = NULL;
	size_t size = 0;
	FILE *scratch = open_memstream(&text, &size);
	int rv = scratch ? track_begin(&t, x, stream, true) : error_set(&x->error, "no memory");
	while (rv == 0 && scratch && (rv = track_next(&t)) == 0) {
		const struct schema *s = t.event.schema;
		say_to(out, ",\n{\"ph\":\"X\",\"cat\":\"MPI\",\"name\":\"%.*s\"", (int)s->function_length, s->function);
		say_to(out, ",\"pid\":%u,\"tid\":%u", stream_rank(x->trace, stream), stream_thread(x->trace, stream));
		put_us(out, "ts", t.begin);
		put_us(out, "dur", t.end - t.begin);
		if (put_parameters(&t, out, scratch, &text, &size) != 0)
			rv = error_set(&x->error, "no memory");
		say_to(out, "}");
		for (size_t i = 0; i < t.count; i++)
			put_flow(&t, out, &t.list[i]);
		if (ferror(out))
			rv = error_set(&x->error, "cannot be written: is the disk full?");
	}
	if (scratch) {
		if (rv > 0)
			put_unended(&t, out);
		track_end(&t);
		fclose(scratch);
	}
	free(text);
	return rv < 0 ? -1 : 0;
}

int export_chrome(struct export *x, const char *file)
{
	struct output out;
	int64_t unused;
	int rv = output_file(&out, file, &x->error);
	if (rv == 0)
		put_header(x, out.file);
	for (uint64_t stream = 0; rv == 0 && rankmap_next(&x->trace->events, &stream, &unused); stream++)
		rv = chrome_rank(x, out.file, (uint32_t)stream);
	if (rv == 0) {
		say_to(out.file, "\n]}\n");
		rv = output_finish(&out, &x->error);
	}
	output_discard(&out);
	return rv;
}
