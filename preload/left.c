/* SPDX-License-Identifier: BSD-3-Clause
 * left - calls that did not return
 */
#include "preload/left.h"

#include <string.h>

#include "preload/clock.h"
#include "preload/shortage.h"
#include "preload/site.h"
#include "preload/stack.h"
#include "preload/stand_in.h"
#include "trace/base/quiet.h"
#include "trace/model/schema.h"

/* Is the frame that ends at `frame` on the stack of a call? */
enum left_stack { STACK_HAS_IT, STACK_HAS_NOT, STACK_UNKNOWN };

/* Of the file that an address is in. */
static uintptr_t base_of(struct recorder *r, uintptr_t address)
{
	const struct module *m = module_find(unwinder_modules(r->unwinder), address);
	return m ? m->at.bias : 0;
}

static enum left_stack look_for_frame(struct recorder *r, const void *frame, const void *cfa)
{
	const struct callpath *path = &r->path;
	const uintptr_t own = base_of(r, (uintptr_t)&left_look);
	/* The first one is that of the call itself, which may be where the other was. So may a caller's be, where that
	 * had jumped into the wrapper: it is no frame of the tracer. */
	for (size_t i = 1; i < path->count; i++)
		if (path->frame[i].cfa == (uintptr_t)frame && base_of(r, path->frame[i - 1].address) == own)
			return STACK_HAS_IT;
	/* of a stack that is not known to its end: a frame further in than the caller's is gone */
	if (path->gap)
		return (uintptr_t)cfa >= (uintptr_t)frame ? STACK_HAS_NOT : STACK_UNKNOWN;
	return STACK_HAS_NOT;
}

static void put_unknown(struct call *c)
{
	struct schema schema;
	const uint32_t *name = table_at(&c->rec->arena, &c->rec->record->functions, c->site->function, sizeof *name);
	ref at = *(const ref *)table_at(&c->rec->arena, &c->rec->record->strings, *name, sizeof(ref));
	const struct record_string *text = arena_at(&c->rec->arena, struct record_string, at);
	bool known = schema_parse(&schema, text->bytes, text->length) == 0;
	call_first(c, 0);
	for (uint32_t i = 0; i + 1 < c->site->columns; i++)
		if (known && schema.column[i].kind == 'b') /* it is said only where it is MPI_IN_PLACE */
			call_put(c, 0);
		else
			call_put_absent(c);
	call_put_error(c, CONST_LEFT);
}

/* The site that the call in flight has now. NULL: none is, or there is no memory. */
static struct site *site_of_left(struct recorder *r)
{
	uint32_t at = r->record->at.in_flight;
	if (!at)
		return NULL;
	const struct brief *b = brief_at(&r->arena, r->record, at - 1);
	const struct site *s = brief_not(&r->arena, r->record, at - 1);
	return b ? site_of_error(r, b->function, b->path) : site_of_error(r, s->function, s->path);
}

/* The call that is in flight becomes an event. */
static void record_left(struct recorder *r, uint64_t now)
{
	struct site *s = site_of_left(r);
	if (!s || shortage_is_counter(s)) {
		r->record->lost++;
		return;
	}
	struct call c = {.rec = r,
	                 .site = s,
	                 .start = now | CALL_SLOWLY,
	                 .end = now,
	                 .entry = now,
	                 .failed = true,
	                 .detail = r->detail != NULL};
	r->record->at.in_flight = s->self;
	put_unknown(&c);
	call_commit(&c);
	recording.ready = NULL;
}

/* The innermost call was left; the thread is in the one around it. */
static void leave_innermost(struct recorder *r, bool record, uint64_t now)
{
	shortage_make_room(r);
	if (record)
		record_left(r, now);
	recording.frame = NULL;
	if (recording.depth > 0 && --recording.depth < LEFT_NESTED) {
		recording.frame = r->around[recording.depth].frame;
		r->record->at.in_flight = r->around[recording.depth].site;
	}
}

void left_look(struct recorder *r, void *return_address, void *cfa, uint64_t now)
{
	struct quiet before = quiet_begin();
	struct stack_view v;
	while (recording.frame) {
		unwind_path(r->unwinder, &r->path, return_address, cfa, CALLPATH_MAX);
		if (look_for_frame(r, recording.frame, cfa) != STACK_HAS_NOT)
			break;
		/* A call of a fiber, on a stack of its own, may go on later: it ends as any other. Before MPI is
		 * initialised, threads share what is in flight. */
		stack_look(&v, cfa);
		leave_innermost(r, !r->shared && stack_has_both(&v, (uintptr_t)cfa, (uintptr_t)recording.frame), now);
	}
	quiet_end(before);
}

void left_thread_ends(struct recorder *r)
{
	while (recording.frame && !r->shared)
		leave_innermost(r, true, clock_ticks());
}

void left_nest(struct recorder *r)
{
	if (recording.depth < LEFT_NESTED)
		r->around[recording.depth] = (struct call_around){recording.frame, r->record->at.in_flight};
}
