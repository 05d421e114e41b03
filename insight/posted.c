/* SPDX-License-Identifier: BSD-3-Clause
 * posted - in which order receives were posted, where that decides which message each of them got
 */
#include "insight/posted.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/budget.h"

/* Open receives that a new one is compared with; if there are more, it is kept in any case. */
#define COMPARED 64

struct posted_entry {
	uint64_t receive, number;
	uint32_t comm, local; /* RANK_UNKNOWN: of any */
	int64_t tag;          /* below 0: any */
	bool partitioned, open, changed;
};

void posted_free(struct posted *p)
{
	budget_free(p->list);
	budget_free(p->changes);
	*p = (struct posted){.list = NULL};
}

static bool is_same_channel(const struct posted_entry *e, const struct act *m)
{
	return !e->open && e->comm == m->comm && e->local == m->local && e->tag == m->tag &&
	       e->partitioned == m->partitioned;
}

/* Could an open receive take what another one takes? */
static bool concerns(const struct posted_entry *open, const struct act *m)
{
	return open->comm == m->comm &&
	       (open->local == m->local || open->local == RANK_UNKNOWN || m->local == RANK_UNKNOWN) &&
	       (open->tag == m->tag || open->tag < 0 || m->tag < 0);
}

static bool concerns_any(const struct posted *p, const struct act *m)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->count && n < COMPARED; i++, n++)
		if (p->list[i].open && concerns(&p->list[i], m))
			return true;
	return n == COMPARED;
}

/* Leaves out what is decided at the front; at least `most` of them. */
static int forget_front(struct posted *p, uint32_t most)
{
	uint32_t n = 0;
	while (n < p->count && (n < most || !p->list[n].open)) {
		const struct posted_entry *e = &p->list[n++];
		if (!e->changed)
			continue;
		if (!budget_grow(&p->changes, p->change_count, &p->change_capacity, sizeof *p->changes))
			return -1;
		p->changes[p->change_count++] = (struct posted_change){e->receive, e->number};
	}
	p->count -= n;
	if (n > 0)
		memmove(p->list, p->list + n, p->count * sizeof *p->list);
	return 0;
}

/* A receive was posted. */
static int posted_add(struct posted *p, const struct act *m)
{
	if (!m->open && !concerns_any(p, m))
		return 0;
	if ((p->count >= POSTED_MOST && forget_front(p, p->count / 4) != 0) ||
	    !budget_grow(&p->list, p->count, &p->capacity, sizeof *p->list))
		return -1;
	p->list[p->count++] = (struct posted_entry){.receive = m->receive,
	                                            .number = m->number,
	                                            .comm = m->comm,
	                                            .local = m->local,
	                                            .tag = m->tag,
	                                            .partitioned = m->partitioned,
	                                            .open = m->open};
	return 0;
}

static uint32_t entry_find(const struct posted *p, uint64_t receive)
{
	uint32_t i = 0;
	while (i < p->count && p->list[i].receive != receive)
		i++;
	return i;
}

/* One is complete: if it was open, who and which tag are known now. */
static int posted_decide(struct posted *p, const struct act *m)
{
	uint32_t at = entry_find(p, m->receive);
	if (at == p->count || !p->list[at].open)
		return 0;
	struct posted_entry *own = &p->list[at];
	own->open = false;
	own->comm = m->comm;
	own->local = m->local;
	own->tag = m->tag;
	own->number = m->number;
	for (uint32_t i = at + 1; i < p->count && budget_step(1); i++) {
		struct posted_entry *behind = &p->list[i];
		if (!is_same_channel(behind, m))
			continue;
		own->number = own->number < behind->number ? own->number : behind->number;
		own->changed = behind->changed = true;
		behind->number++;
	}
	return forget_front(p, 0);
}

/* An open one got nothing. */
static int posted_drop(struct posted *p, uint64_t receive)
{
	uint32_t at = entry_find(p, receive);
	if (at < p->count && p->list[at].open) {
		p->list[at].open = false;
		p->list[at].comm = COMM_UNKNOWN; /* of no channel */
	}
	return forget_front(p, 0);
}

int posted_act(struct posted *p, const struct act *m)
{
	switch (m->kind) {
	case ACT_RECV:
	case ACT_RECV_BEGIN:
	case ACT_PROBED:
		return m->matched ? 0 : posted_add(p, m);
	case ACT_RECV_END:
		return posted_decide(p, m);
	case ACT_CANCELLED:
		return posted_drop(p, m->receive);
	default:
		return 0;
	}
}

static int by_receive(const void *a, const void *b)
{
	const struct posted_change *x = a, *y = b;
	return (x->receive > y->receive) - (x->receive < y->receive);
}

int posted_finish(struct posted *p)
{
	int rv = forget_front(p, p->count);
	if (p->change_count > 0)
		qsort(p->changes, p->change_count, sizeof *p->changes, by_receive);
	return rv;
}

uint64_t posted_number(const struct posted *p, uint64_t receive, uint64_t seems)
{
	const struct posted_change key = {.receive = receive},
				   *change = p->change_count ? bsearch(&key, p->changes, p->change_count, sizeof key,
	                                                               by_receive)
	                                                     : NULL;
	return change ? change->number : seems;
}
