/* SPDX-License-Identifier: BSD-3-Clause
 * posted - which message a receive got is decided by the order in which receives were posted
 */
#include "insight/posted.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

static struct act receive(enum act_kind kind, uint64_t number, uint32_t from, int64_t tag, uint64_t seems)
{
	return (struct act){.kind = kind,
	                    .receive = number,
	                    .local = from,
	                    .tag = tag,
	                    .open = kind == ACT_RECV_BEGIN && (from == RANK_UNKNOWN || tag < 0),
	                    .number = seems};
}

/* Returns what posted_act did not say well. */
static int tell(struct posted *p, const struct act *list, size_t n)
{
	int rv = 0;
	for (size_t i = 0; i < n; i++)
		rv |= posted_act(p, &list[i]);
	return rv | posted_finish(p);
}

#define TELL(p, list) tell(p, list, sizeof(list) / sizeof *(list))

static int each_allocation(void *unused)
{
	struct posted p = {.list = NULL};
	(void)unused;
	const struct act list[] = {
		receive(ACT_RECV_BEGIN, 0, RANK_UNKNOWN, 7, 0),
		receive(ACT_RECV, 1, 2, 7, 0),
		receive(ACT_RECV_END, 0, 2, 7, 1),
	};
	int rv = TELL(&p, list);
	posted_free(&p);
	return rv;
}

int main(void)
{
	struct posted p = {.list = NULL};
	/* any source; then two from rank 2, which are complete before it turns out that the first one was, too */
	const struct act behind[] = {
		receive(ACT_RECV_BEGIN, 0, RANK_UNKNOWN, 7, 0),
		receive(ACT_RECV_BEGIN, 1, 2, 7, 0),
		receive(ACT_RECV, 2, 2, 7, 1),
		receive(ACT_RECV, 3, 3, 7, 0),
		receive(ACT_RECV_END, 1, 2, 7, 0),
		receive(ACT_RECV_END, 0, 2, 7, 2),
	};
	ok(TELL(&p, behind) == 0, "receives behind an open one");
	ok(posted_number(&p, 0, 2) == 0, "the open one got the first message");
	ok(posted_number(&p, 1, 0) == 1, "the one behind it the second");
	ok(posted_number(&p, 2, 1) == 2, "and so on");
	ok(posted_number(&p, 3, 0) == 0, "another sender's is what it seemed");
	posted_free(&p);

	/* two open ones that are complete in reverse order */
	const struct act two[] = {
		receive(ACT_RECV_BEGIN, 0, RANK_UNKNOWN, -1, 0),
		receive(ACT_RECV_BEGIN, 1, RANK_UNKNOWN, 5, 0),
		receive(ACT_RECV_END, 1, 4, 5, 0),
		receive(ACT_RECV_END, 0, 4, 5, 1),
	};
	ok(TELL(&p, two) == 0, "two open ones");
	ok(posted_number(&p, 0, 1) == 0, "the first one got the first message");
	ok(posted_number(&p, 1, 0) == 1, "the second one the second");
	posted_free(&p);

	/* one that got nothing changes nothing */
	const struct act none[] = {
		receive(ACT_RECV_BEGIN, 0, RANK_UNKNOWN, 5, 0),
		receive(ACT_RECV, 1, 2, 5, 0),
		receive(ACT_CANCELLED, 0, RANK_UNKNOWN, 5, 0),
	};
	ok(TELL(&p, none) == 0, "one that is cancelled");
	ok(p.change_count == 0, "all are what they seemed");
	posted_free(&p);

	/* what is open for ever costs no more than its share */
	struct act m = receive(ACT_RECV_BEGIN, 0, RANK_UNKNOWN, 5, 0);
	int rv = posted_act(&p, &m);
	for (uint64_t i = 1; i < 3 * POSTED_MOST; i++) {
		m = receive(ACT_RECV, i, 2, 5, i);
		rv |= posted_act(&p, &m);
	}
	ok(rv == 0 && p.count <= POSTED_MOST, "an open one is forgotten in the end");
	posted_free(&p);

	ok(fails_well(each_allocation, NULL), "no memory: said, and nothing is lost");
	return tap_end();
}
