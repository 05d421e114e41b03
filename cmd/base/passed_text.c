/* SPDX-License-Identifier: BSD-3-Clause
 * passed_text - the arguments of calls that did not end, as text
 */
#include "cmd/base/passed_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/base/print_event.h"
#include "cmd/base/sink.h"
#include "trace/base/budget.h"
#include "trace/read/handles.h"

enum form { FORM_UNKNOWN, FORM_ABSOLUTE, FORM_RELATIVE };

struct passed_text {
	const struct trace *trace;
	struct handles *handles;
	enum form *form; /* of each entry of trace.unended */
	char *text;
	size_t size;
	FILE *out; /* writes `text` */
};

struct passed_text *passed_text_create(const struct trace *t)
{
	struct passed_text *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->trace = t;
	p->handles = handles_create(t);
	p->form = calloc(t->unended_count + (size_t)1, sizeof *p->form);
	p->out = open_memstream(&p->text, &p->size);
	if (p->handles && p->form && p->out)
		return p;
	passed_text_destroy(p);
	return NULL;
}

void passed_text_destroy(struct passed_text *p)
{
	if (!p)
		return;
	if (p->out)
		fclose(p->out);
	handles_destroy(p->handles);
	free(p->form);
	free(p->text);
	free(p);
}

/* The caller's rank in the communicator of the call. */
static int64_t own_rank(const struct passed_text *p, const struct trace_unended *u, uint32_t stream)
{
	int64_t comm;
	uint64_t rank;
	if (unended_passed(p->trace, u, PARAMETER_COMM, 0, stream, &comm) &&
	    handles_comm_rank(p->handles, stream, comm, &rank) == HANDLE_KNOWN)
		return (int64_t)rank;
	return stream % p->trace->size;
}

static void put_passed(const struct passed_text *p, char kind, int64_t v, int64_t own, bool relative)
{
	if (kind == 'p' && relative && !value_is_constant(v))
		say_to(p->out, v ? "rank%+" PRId64 : "rank", v);
	else
		print_scalar(p->out, p->trace, v, kind, own);
}

/* One rank's arguments, behind each other; those of an array in brackets. */
static const char *make_text(struct passed_text *p, const struct trace_unended *u, uint32_t stream, bool relative)
{
	const struct schema *s = trace_schema(p->trace, &p->trace->sites[u->site]);
	int64_t own = own_rank(p, u, stream), v;
	rewind(p->out);
	for (uint32_t k = 0; k < s->count; k++) {
		const struct schema_column *c = &s->column[k];
		if (!passed_get(&u->passed, (int)k, 0, stream, &v))
			continue;
		say_to(p->out, "%s%.*s=%s", ftello(p->out) ? " " : "", (int)c->length, c->name, c->vector ? "[" : "");
		put_passed(p, c->kind, v, own, relative);
		for (uint32_t i = 1; c->vector && passed_get(&u->passed, (int)k, i, stream, &v); i++) {
			say_to(p->out, ",");
			put_passed(p, c->kind, v, own, relative);
		}
		if (c->vector)
			say_to(p->out, "]");
	}
	sink_bytes(p->out, "", 1);
	return fflush(p->out) == 0 ? p->text : "";
}

/* How many different texts its ranks have. */
static uint32_t count_texts(struct passed_text *p, const struct trace_unended *u, bool relative)
{
	struct pool texts = {.count = 0};
	int64_t unused;
	for (uint64_t r = 0; rankmap_next(&u->ranks, &r, &unused) && budget_step(u->passed.count + UINT64_C(1)); r++) {
		const char *text = make_text(p, u, (uint32_t)r, relative);
		pool_intern(&texts, text, strlen(text));
	}
	uint32_t n = texts.count;
	pool_free(&texts);
	return n;
}

const char *passed_text_of(struct passed_text *p, const struct trace_unended *u, uint32_t rank)
{
	if (u->passed.count == 0)
		return "";
	enum form *form = &p->form[u - p->trace->unended];
	if (*form == FORM_UNKNOWN) {
		uint32_t absolute = count_texts(p, u, false);
		*form = absolute > 1 && count_texts(p, u, true) < absolute ? FORM_RELATIVE : FORM_ABSOLUTE;
	}
	return make_text(p, u, rank, *form == FORM_RELATIVE);
}

json_t *passed_text_json(const char *text)
{
	json_t *out = json_object();
	char name[64], *end;
	while (*text) {
		size_t all = strcspn(text, " "), key = strcspn(text, "=");
		if (key >= all || key >= sizeof name)
			break;
		memcpy(name, text, key);
		name[key] = '\0';
		long long number = strtoll(text + key + 1, &end, 10);
		bool is_number = all > key + 1 && end == text + all;
		json_object_set_new(out, name,
		                    is_number ? json_integer(number) : json_stringn(text + key + 1, all - key - 1));
		text += all + (text[all] == ' ');
	}
	return out;
}
