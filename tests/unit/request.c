/* SPDX-License-Identifier: BSD-3-Clause
 * request - unit test of preload/request.c and preload/request_array.c
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail_after = -1; /* the k-th allocation from now on fails; -1: none */

static void *test_calloc(size_t n, size_t size)
{
	return fail_after >= 0 && fail_after-- == 0 ? NULL : calloc(n, size);
}

static void *test_realloc(void *p, size_t size)
{
	return fail_after >= 0 && fail_after-- == 0 ? NULL : realloc(p, size);
}
#define calloc  test_calloc
#define realloc test_realloc
#include "preload/request.c"
#include "preload/request_array.c"
#include "preload/request_table.c"
#undef calloc
#undef realloc

bool handle_locking;

static int count, failed;

static void ok(bool condition, const char *title)
{
	printf("%s %d - %s\n", condition ? "ok" : "not ok", ++count, title);
	failed += !condition;
}

#define NULL_REQUEST 0x1000
#define P            0x2000 /* shared by all requests to MPI_PROC_NULL */

static struct request_ref find_one(uint64_t bits)
{
	return request_find(bits, NULL_REQUEST, false);
}

static void bad_arguments(void)
{
	struct request_ref ref;

	ok(request_new(NULL_REQUEST, NULL_REQUEST, 0) == REQUEST_NONE, "MPI_REQUEST_NULL is never live");
	ok(request_new(0, NULL_REQUEST, 0) == REQUEST_UNKNOWN, "a handle of no bits is not recorded");
	ok(find_one(NULL_REQUEST).number == REQUEST_NONE, "MPI_REQUEST_NULL is found as none");
	ok(find_one(0x99).number == REQUEST_UNKNOWN, "a failed call's unknown request does not become live");
	ok(find_one(0).number == REQUEST_UNKNOWN, "nor do no bits");
	request_end(&(struct request_ref){.bits = 0x99, .number = REQUEST_NONE});
	request_end(&(struct request_ref){.bits = 0x99, .number = REQUEST_UNKNOWN});
	request_end(&(struct request_ref){.bits = 0x99, .number = 7});
	request_release(&(struct request_ref){.bits = 0x99, .number = REQUEST_UNKNOWN});
	ok(request_count() == 0, "ending what is not live does nothing");
	request_find_all(&ref, (uint64_t[]){0}, 0, NULL_REQUEST);
	ok(request_count() == 0, "an empty array means nothing");
	request_reset();
}

static void numbering(void)
{
	struct request_ref a, b;

	ok(request_new(0x10, NULL_REQUEST, REQUEST_RECV) == 0 && request_new(0x20, NULL_REQUEST, 0) == 1 &&
	           request_new(0x30, NULL_REQUEST, REQUEST_PERSISTENT) == 2,
	   "numbers count up from 0");
	a = find_one(0x10);
	b = find_one(0x20);
	ok(a.number == 0 && a.traits == REQUEST_RECV && b.number == 1 && b.traits == 0,
	   "a request is found with its traits");
	request_end(&b);
	ok(find_one(0x20).number == REQUEST_UNKNOWN, "a completed one is forgotten");
	request_end(&a);
	ok(request_new(0x40, NULL_REQUEST, 0) == 0 && request_new(0x50, NULL_REQUEST, 0) == 1 &&
	           request_new(0x60, NULL_REQUEST, 0) == 3,
	   "a new one takes the lowest number that is free");
	ok(request_find(0x70, NULL_REQUEST, true).number == 4 && request_count() == 5,
	   "one that was never seen becomes live");
	request_reset();
}

static void shared_handles(void)
{
	const uint64_t all[] = {P, 0x10, NULL_REQUEST, P, P, P};
	struct request_ref refs[6];

	for (int i = 0; i < 3; i++)
		request_new(P, NULL_REQUEST, i == 1 ? REQUEST_RECV : 0);
	request_new(0x10, NULL_REQUEST, 0);
	ok(find_one(P).number == 0 && find_one(P).number == 0,
	   "of several with one handle the oldest is meant, each time");
	request_find_all(refs, all, 6, NULL_REQUEST);
	ok(refs[0].number == 0 && refs[1].number == 3 && refs[2].number == REQUEST_NONE && refs[3].number == 1 &&
	           refs[4].number == 2,
	   "in an array from left to right, each at most once");
	ok(refs[3].traits == REQUEST_RECV && refs[5].number == 4,
	   "traits belong to the request; one more becomes live");
	request_find_all(refs, all, 6, NULL_REQUEST);
	ok(refs[0].number == 0 && refs[3].number == 1 && refs[4].number == 2 && refs[5].number == 4,
	   "the next array begins anew");
	request_end(&refs[3]);
	ok(find_one(P).number == 0, "one from the middle can complete");
	request_end(&refs[0]);
	ok(find_one(P).number == 2, "then the oldest");
	request_end(&refs[5]);
	ok(request_new(P, NULL_REQUEST, 0) == 0, "then the youngest; its number is free again");
	request_find_all(refs, all, 1, NULL_REQUEST);
	request_find_all(refs + 1, all, 5, NULL_REQUEST);
	ok(refs[1].number == 2 && refs[4].number == 0, "the order is that of creation, not of numbers");
	request_reset();
}

static void threads(void)
{
	struct request_ref a, b, two[2];

	handle_locking = true;
	request_new(0x10, NULL_REQUEST, REQUEST_RECV);
	a = request_find(0x10, NULL_REQUEST, true);
	request_new(0x10, NULL_REQUEST, 0); /* MPI has completed the first one and given its handle to another thread */
	b = request_find(0x10, NULL_REQUEST, true);
	ok(a.number == 0 && b.number == 1, "a request that a call waits for is not meant by another call");
	request_end(&a);
	request_release(&b);
	request_find_all(two, (uint64_t[]){0x10, 0x20}, 2, NULL_REQUEST);
	ok(two[0].number == 1 && two[1].number == 0, "after its call it is again");
	request_end(&two[0]);
	request_end(&two[1]);
	ok(request_count() == 0, "nothing is left");
	handle_locking = false;
	request_reset();
}

#define KEPT 0x9000

/* Thread 1 ends a request of thread 0, which goes on with its own at the same time. */
static void *other_thread(void *wrong)
{
	struct request_ref ref;

	request_thread(1);
	ref = request_find(KEPT, NULL_REQUEST, false);
	*(int *)wrong += ref.number != INT64_C(1) << 32 || ref.traits != REQUEST_RECV;
	request_end(&ref);
	for (int i = 0; i < 100; i++)
		*(int *)wrong += request_look(KEPT, NULL_REQUEST).number != REQUEST_UNKNOWN;
	return NULL;
}

static void foreign_request(void)
{
	int wrong = 0, judged = 0;

	handle_locking = true;
	for (int round = 0; round < 100; round++) {
		/* On a busy machine a thread may lose its processor for longer than the other one waits. */
		const uint64_t given_up = lock_given_up;
		const int before = wrong;
		int wrong_there = 0;
		const struct request_ref kept = {.bits = KEPT};
		pthread_t other;

		request_thread(0);
		request_new(KEPT, NULL_REQUEST, REQUEST_RECV);
		wrong += request_table.shared != locks_only;
		if (pthread_create(&other, NULL, other_thread, &wrong_there) != 0) {
			wrong++;
			request_end(&kept);
			continue;
		}
		for (int i = 0; i < 5000 || !__atomic_load_n(&request_table.shared, __ATOMIC_RELAXED); i++) {
			int64_t number = request_new(0x40, NULL_REQUEST, 0);
			struct request_ref ref;

			request_find_all(&ref, (uint64_t[]){0x40}, 1, NULL_REQUEST);
			wrong += ref.number != number || (number != 0 && number != 1);
			request_end(&ref);
		}
		pthread_join(other, NULL);
		wrong += wrong_there + (request_count() != 0);
		judged += lock_given_up == given_up;
		if (lock_given_up != given_up)
			wrong = before;
		request_reset();
	}
	ok(wrong == 0 && judged > 0, "a thread ends another one's request while that one goes on without a lock");
	handle_locking = false;
}

/* Another thread ends, claims and looks for what is in a table whose owner has it and does not go on. */
static void *in_vain(void *wrong)
{
	struct request_ref ref;

	request_thread(1);
	ref = request_find(KEPT + 16, NULL_REQUEST, true);
	*(int *)wrong += ref.number != REQUEST_UNKNOWN;
	*(int *)wrong += request_look(KEPT + 16, NULL_REQUEST).number != REQUEST_UNKNOWN;
	ref = (struct request_ref){.bits = KEPT, .number = INT64_C(1) << 32};
	request_end(&ref);
	return NULL;
}

static void held_table(void)
{
	int wrong = 0;
	uint64_t given_up = lock_given_up;
	pthread_t other;

	handle_locking = true;
	request_thread(0);
	ok(request_new(KEPT, NULL_REQUEST, 0) == 0 && request_new(KEPT + 16, NULL_REQUEST, 0) == 1,
	   "two requests of a thread");
	request_table.busy = true; /* it is in its table, and stopped there */
	pthread_create(&other, NULL, in_vain, &wrong);
	pthread_join(other, NULL);
	ok(wrong == 0, "another thread does not know what it means by one of them");
	ok(lock_given_up == given_up + 1, "it waits once");
	request_table.busy = false;
	ok(request_find(KEPT + 16, NULL_REQUEST, false).number == 1, "the owner goes on");
	ok(request_count() == 1, "what was ended meanwhile has ended");
	handle_locking = false;
	request_reset();
}

/* The same operations on the table and on a plain list. */
static void against_model(void)
{
	enum { MOST = 3000, STEPS = 60000 };
	static uint64_t bits[MOST];
	static int number[MOST];
	int n = 0, wrong = 0;
	unsigned seed = 1;

	for (int step = 0; step < STEPS; step++) {
		seed = seed * 1103515245u + 12345u;
		unsigned r = seed >> 8;
		bool growing = step / 10000 % 2 == 0;

		if (n < MOST && r % 16 < (growing ? 10u : 6u)) {
			uint64_t h = 0x5000 + r / 16 % 700 * 64; /* many are the same */
			bool taken[MOST + 1] = {false};
			int lowest = 0;

			for (int i = 0; i < n; i++)
				taken[number[i]] = true;
			while (taken[lowest])
				lowest++;
			bits[n] = h;
			number[n] = lowest;
			wrong += request_new(h, NULL_REQUEST, 0) != lowest;
			n++;
		} else if (n) {
			int i = r / 16 % n, oldest = 0;
			struct request_ref ref = find_one(bits[i]);

			while (bits[oldest] != bits[i])
				oldest++;
			wrong += ref.number != number[oldest];
			if (r % 3 == 0 && oldest != i) { /* as MPI_Waitany may: not the oldest */
				ref.number = number[i];
				oldest = i;
			}
			request_end(&ref);
			memmove(bits + oldest, bits + oldest + 1, (n - oldest - 1) * sizeof(*bits));
			memmove(number + oldest, number + oldest + 1, (n - oldest - 1) * sizeof(*number));
			n--;
		}
		wrong += request_count() != (size_t)n;
	}
	ok(wrong == 0, "60000 random operations agree with a list");
	request_reset();
}

/* Arrays whose requests are known before, as MPI_Waitall has them in a loop; some handles are shared. */
static void expected_arrays(void)
{
	enum { MOST = REQUEST_FEW, ROUNDS = 3000 };
	uint64_t bits[MOST];
	int64_t numbers[MOST];
	struct request_found known;
	struct request_ref refs[MOST];
	int wrong = 0, found = 0;
	unsigned seed = 7, traits, expected;

	for (int round = 0; round < ROUNDS; round++) {
		int n, ended = 0;

		seed = seed * 1103515245u + 12345u;
		n = 1 + (seed >> 16) % MOST;
		traits = expected = 0;
		for (int i = 0; i < n; i++) {
			seed = seed * 1103515245u + 12345u;
			bits[i] = seed >> 28 ? 0x5000 + (uint64_t)i * 192 : P;
			numbers[i] = request_new(bits[i], NULL_REQUEST, seed >> 20 & 1);
			wrong += numbers[i] != i;
			expected |= seed >> 20 & 1;
		}
		numbers[n - 1]++;
		wrong += request_find_expected(&known, bits, sizeof(*bits), numbers, n, &traits);
		numbers[n - 1]--;
		if (!request_find_expected(&known, bits, sizeof(*bits), numbers, n,
		                           &traits)) { /* some are not at home */
			request_find_all(refs, bits, n, NULL_REQUEST);
			traits = expected;
		} else {
			found++;
			request_find_all(refs, bits, n, NULL_REQUEST);
			for (int i = 0; i < n; i++)
				wrong += refs[i].number != numbers[i] || refs[i].traits != known.traits[i];
			while (ended < n && request_end_expected(&known, ended, numbers[ended]))
				ended++;
		}
		wrong += traits != expected || request_count() != (size_t)(n - ended);
		for (; ended < n; ended++)
			request_end(&refs[ended]);
		wrong += request_count() != 0;
	}
	ok(wrong == 0 && found > ROUNDS / 4, "arrays of requests that are as expected");
	request_reset();
}

static void many_with_one_handle(void)
{
	enum { N = 100000 };
	uint64_t *bits = malloc(N * sizeof(*bits));
	struct request_ref *refs = malloc(N * sizeof(*refs));
	int wrong = 0;

	for (int i = 0; i < N; i++) {
		bits[i] = P;
		wrong += request_new(P, NULL_REQUEST, 0) != i;
	}
	request_find_all(refs, bits, N, NULL_REQUEST);
	for (int i = 0; i < N; i++) {
		wrong += refs[i].number != i;
		request_end(&refs[i]);
	}
	ok(wrong == 0 && request_count() == 0, "100000 requests with one handle take linear time");
	free(bits);
	free(refs);
	request_reset();
}

/* A layer that completes by PMPI_Wait: of three handles, which the library hands out again and again, one is seen to
 * complete now and then. */
static void completed_unseen(void)
{
	enum { N = 3000000 };
	int wrong = 0;

	for (int i = 0; i < N; i++) {
		wrong += request_new(P + i % 3 * 64, NULL_REQUEST, 0) < 0;
		if (i % 1000 == 0) {
			struct request_ref ref = find_one(P + i % 3 * 64);

			wrong += ref.number < 0;
			request_end(&ref);
		}
	}
	ok(wrong == 0, "requests that complete unseen have numbers");
	ok(request_count() <= REQUEST_BEHIND + 4, "there are no more of them than what is more than any program has");
	ok(request_table.node_count * sizeof(struct request_node) <= UINT64_C(32) << 20 && request_table.mask < 4096,
	   "they take no more memory, and no slots");
	for (int i = 0; i < 3; i++)
		for (struct request_ref ref; (ref = find_one(P + i * 64)).number >= 0;)
			request_end(&ref);
	ok(request_count() == 0 && request_table.behind == 0, "all of them can be ended");
	request_reset();
}

static void no_memory(void)
{
	int unknown = 0;

	for (int k = 0; k < 4; k++) {
		struct request_ref ref;

		fail_after = k;
		for (int i = 0; i < 200; i++) {
			int32_t number = request_new(0x100 + 16 * i, NULL_REQUEST, 0);

			unknown += number == REQUEST_UNKNOWN;
			ref = find_one(0x100 + 16 * i);
			if (ref.number != (number >= 0 ? number : REQUEST_UNKNOWN))
				unknown = -1000;
			if (i % 2)
				request_end(&ref);
		}
		fail_after = -1;
		request_reset();
	}
	ok(unknown > 0, "when the k-th allocation fails, that request is unknown, and the others are right");
}

/* Handles are given again at once, and numbers too: what the array means is always what each handle means alone. */
static void array_again(void)
{
	enum { N = 40, LIVE = 60 };
	uint64_t bits[N], spare[LIVE], state = 1;
	size_t spares = 0, wrong = 0, null = 0;

	for (int i = 0; i < LIVE; i++)
		spare[spares++] = 0x10000 + 8 * (uint64_t)i;
	for (int i = 0; i < N; i++)
		request_new(bits[i] = spare[--spares], NULL_REQUEST, i % 2 ? REQUEST_RECV : 0);
	request_array_set_null(-7);
	for (int round = 0; round < 3000; round++) {
		uint64_t now[N];
		size_t ended = N; /* the last one */

		wrong += !request_array_find(bits, N, NULL_REQUEST);
		for (int i = 0; i < N; i++) {
			struct request_ref ref = find_one(bits[i]), was = request_array.refs[i];

			null += ref.number == REQUEST_NONE;
			wrong += was.number != ref.number || was.traits != ref.traits || was.bits != ref.bits ||
			         request_array.values[i] != (ref.number == REQUEST_NONE ? -7 : ref.number);
		}
		memcpy(now, bits, sizeof(now));
		for (int k = 0; k < round % 4; k++) {
			size_t i = (state = state * 6364136223846793005u + 1) >> 33, by = i >> 20 & 1;

			i %= N;
			if (now[i] == NULL_REQUEST)
				continue;
			if (by) { /* another call ends it, before this one comes back */
				struct request_ref ref = find_one(bits[i]);

				request_end(&ref);
				request_array.refs[i].number = REQUEST_UNKNOWN;
			}
			spare[spares++] = now[i];
			now[i] = NULL_REQUEST;
			ended = i;
		}
		if (round % 4 == 1 && ended < N)
			request_array_end_one(ended, now, NULL_REQUEST);
		else
			request_array_end(now, NULL_REQUEST);
		for (int i = 0; i < N; i++)
			if ((bits[i] = now[i]) == NULL_REQUEST && round % 3)
				request_new(bits[i] = spare[--spares], NULL_REQUEST, i % 2 ? REQUEST_RECV : 0);
	}
	ok(!wrong && null > 0, "an array is known again, as far as none of its requests ended elsewhere");
	request_new(P, NULL_REQUEST, 0);
	request_new(P, NULL_REQUEST, 0);
	ok(!request_array_find(bits, N, NULL_REQUEST), "no array is kept while two live requests have one handle");
	request_reset();
	ok(!request_array_find(bits, 0, NULL_REQUEST), "nor one of nothing");
	request_new(0x10, NULL_REQUEST, 0);
	ok(request_array_find((uint64_t[]){0x10}, 1, NULL_REQUEST) && request_array.refs[0].number == 0, "one is kept");
	request_reset();
	request_new(0x20, NULL_REQUEST, 0);
	request_new(0x10, NULL_REQUEST, 0);
	ok(request_array_find((uint64_t[]){0x10}, 1, NULL_REQUEST) && request_array.refs[0].number == 1,
	   "and forgotten with all");
	request_reset();
}

int main(void)
{
	bad_arguments();
	numbering();
	shared_handles();
	threads();
	foreign_request();
	held_table();
	against_model();
	expected_arrays();
	many_with_one_handle();
	completed_unseen();
	array_again();
	no_memory();
	printf("1..%d\n", count);
	return failed != 0;
}
