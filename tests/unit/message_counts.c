/* SPDX-License-Identifier: BSD-3-Clause
 * message_counts - messages counted by source, destination, scope and tag
 */
#include "insight/message_counts.h"

#include "tests/unit/fail.h"
#include "tests/unit/tap.h"

#define RANKS 40

static void test_counts(void)
{
	struct message_counts *m = message_counts_create(RANKS);
	const struct message_key key = {7, -3, 1, 2}, other = {7, -3, 2, 1}, far = {7, -3, 1, RANKS};
	const struct message_count *c;
	ok(m && !message_counts_find(m, &key) && !message_counts_next(m, 2, NULL) &&
	           !message_counts_next(m, RANKS, NULL),
	   "nothing yet");
	ok(message_counts_add(m, &far, 1, 0) == -1 && !message_counts_find(m, &far),
	   "refused: a rank that there is not");
	ok(message_counts_add(m, &key, 3, 0) == 0 && message_counts_add(m, &key, 0, 2) == 0 &&
	           message_counts_post(m, &key) == 0 && message_counts_add(m, &other, 0, 1) == 0,
	   "sent, received, posted");
	c = message_counts_find(m, &key);
	ok(c && c->sent == 3 && c->received == 2 && c->posted == 1 && message_count_pending(c) == 1,
	   "one is there that was not received");
	ok(message_count_pending(message_counts_find(m, &other)) == 0 && message_count_pending(NULL) == 0,
	   "more received than sent: none is there");
	message_counts_destroy(m);
	message_counts_destroy(NULL);
}

/* Each rank to each other one, with two tags. */
static int all_to_all(void *context)
{
	uint64_t seen = 0, *sum = context;
	int rv = 0;
	struct message_counts *m = message_counts_create(RANKS);
	for (uint32_t i = 0; m && rv == 0 && i < RANKS * RANKS * 2; i++) {
		struct message_key key = {0, i % 2, i / 2 % RANKS, i / 2 / RANKS};
		rv = message_counts_add(m, &key, i, 0);
	}
	for (uint32_t dest = 0; m && rv == 0 && dest < RANKS; dest++)
		for (const struct message_count *c = NULL; (c = message_counts_next(m, dest, c));) {
			rv |= c->key.dest == dest ? 0 : -1;
			seen++;
			*sum += c->sent;
		}
	message_counts_destroy(m);
	return m && rv == 0 && seen == RANKS * RANKS * 2 ? 0 : -1;
}

int main(void)
{
	uint64_t sum = 0, n = RANKS * RANKS * 2;
	test_counts();
	ok(all_to_all(&sum) == 0 && sum == n * (n - 1) / 2, "all of each destination");
	ok(fails_well(all_to_all, &sum), "no memory");
	return tap_end();
}
