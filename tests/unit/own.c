/* SPDX-License-Identifier: BSD-3-Clause
 * own - the tracer's own functions do what libc's do, and its memory is to be had at any instant
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/unit/tap.h"
#include "trace/base/limits.h"

/* What is included from here on has names of its own. */
#define memmove            own_memmove
#define memcpy             own_memcpy
#define memset             own_memset
#define memcmp             own_memcmp
#define memchr             own_memchr
#define strlen             own_strlen
#define strnlen            own_strnlen
#define strcmp             own_strcmp
#define strncmp            own_strncmp
#define strcpy             own_strcpy
#define strcat             own_strcat
#define strchr             own_strchr
#define strrchr            own_strrchr
#define strspn             own_strspn
#define strcspn            own_strcspn
#define strstr             own_strstr
#define strcasestr         own_strcasestr
#define strsep             own_strsep
#define strdup             own_strdup
#define strndup            own_strndup
#define strtoull           own_strtoull
#define strtoll            own_strtoll
#define fnmatch            own_fnmatch
#define vsnprintf          own_vsnprintf
#define snprintf           own_snprintf
#define sprintf            own_sprintf
#define strerror           own_strerror
#define qsort              own_qsort
#define qsort_r            own_qsort_r
#define malloc             own_malloc
#define free               own_free
#define calloc             own_calloc
#define realloc            own_realloc
#define aligned_alloc      own_aligned_alloc
#define malloc_usable_size own_malloc_usable_size
void *malloc(size_t n);
void free(void *p);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t n);
char *strdup(const char *s);
char *strndup(const char *s, size_t most);
#include "preload/own/bytes.c"
#include "preload/own/format.c"
#include "preload/own/heap.c"
#include "preload/own/memory.c"
#include "preload/own/sort.c"
#undef find
#include "preload/own/text.c"
#undef memmove
#undef memcpy
#undef memset
#undef memcmp
#undef memchr
#undef strlen
#undef strcmp
#undef strncmp
#undef strchr
#undef strrchr
#undef strspn
#undef strcspn
#undef strstr
#undef strcasestr
#undef strtoull
#undef strtoll
#undef fnmatch
#undef vsnprintf
#undef snprintf
#undef strerror
#undef qsort
#undef malloc
#undef free

/* ---- bytes ---- */

static void test_copies(void)
{
	enum { N = 200 };
	unsigned char own[N], libc[N];
	unsigned wrong = 0;

	for (size_t n = 0; n < 70; n++)
		for (size_t from = 0; from < 70; from++)
			for (size_t to = 0; to < 70; to++) {
				for (size_t i = 0; i < N; i++)
					own[i] = libc[i] = (unsigned char)random_next();
				own_memmove(own + to, own + from, n);
				memmove(libc + to, libc + from, n);
				wrong += memcmp(own, libc, N) != 0;
			}
	ok(wrong == 0, "bytes are copied, also onto themselves (%u are wrong)", wrong);
	wrong = 0;
	for (size_t n = 0; n < 70; n++)
		for (size_t to = 0; to < 20; to++) {
			own_memset(own, 1, N);
			memset(libc, 1, N);
			own_memset(own + to, 0x1e7, n);
			memset(libc + to, 0x1e7, n);
			wrong += memcmp(own, libc, N) != 0;
		}
	ok(wrong == 0, "bytes are set (%u are wrong)", wrong);
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

static void test_comparisons(void)
{
	unsigned wrong = 0;

	for (int i = 0; i < 100000; i++) {
		char a[40], b[40];
		size_t n = random_next() % 40;
		for (size_t k = 0; k < 40; k++) {
			a[k] = (char)(random_next() % 2 ? 'a' : 0x90 + (int)(random_next() % 2));
			b[k] = (char)(random_next() % 8 ? a[k] : 'b');
		}
		a[39] = b[39] = 0;
		wrong += sign(own_memcmp(a, b, n)) != sign(memcmp(a, b, n));
		wrong += sign(own_strcmp(a, b)) != sign(strcmp(a, b));
		wrong += sign(own_strncmp(a, b, n)) != sign(strncmp(a, b, n));
		wrong += own_memchr(a, 0x90, n) != memchr(a, 0x90, n);
	}
	ok(wrong == 0, "bytes and texts are compared (%u are wrong)", wrong);
}

/* ---- texts ---- */

static const char *random_text(char *out, size_t most, const char *of)
{
	size_t n = random_next() % most;

	for (size_t i = 0; i < n; i++)
		out[i] = of[random_next() % strlen(of)];
	out[n] = 0;
	return out;
}

static void test_searches(void)
{
	unsigned wrong = 0;

	for (int i = 0; i < 100000; i++) {
		char text[30], what[4];
		random_text(text, sizeof text, "abAB,");
		random_text(what, sizeof what, "abAB,");
		wrong += own_strstr(text, what) != strstr(text, what);
		wrong += own_strcasestr(text, what) != strcasestr(text, what);
		wrong += own_strchr(text, *what) != strchr(text, *what);
		wrong += own_strrchr(text, *what) != strrchr(text, *what);
		wrong += own_strspn(text, what) != strspn(text, what);
		wrong += own_strcspn(text, what) != strcspn(text, what);
	}
	ok(wrong == 0, "texts are looked through (%u are wrong)", wrong);
}

static void test_patterns(void)
{
	unsigned wrong = 0, found = 0;

	for (int i = 0; i < 500000; i++) {
		char text[8], pattern[10];
		random_text(text, sizeof text, "ab]-!");
		random_text(pattern, sizeof pattern, "ab*?[]-!\\");
		size_t n = strlen(pattern);
		if ((n && pattern[n - 1] == '\\') || strchr(pattern, '[')) /* what POSIX leaves open is below */
			continue;
		found += !fnmatch(pattern, text, 0);
		wrong += !own_fnmatch(pattern, text, 0) != !fnmatch(pattern, text, 0);
	}
	ok(wrong == 0 && found > 1000, "patterns: %u match, %u are wrong", found, wrong);
	static const char *const sets[] = {"[ab]", "[!ab]", "[a-c]x", "*[0-9]",      "[]a]",
	                                   "[^a]", "[a",    "x[-a]",  "lib[a-z]*.so"};
	static const char *const texts[] = {"a", "b", "c", "bx", "x5", "]", "[a", "x-", "libm.so", "lib5.so", ""};
	wrong = 0;
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
			wrong += !own_fnmatch(sets[i], texts[k], 0) != !fnmatch(sets[i], texts[k], 0);
	ok(wrong == 0, "patterns with sets (%u are wrong)", wrong);
}

static void test_numbers(void)
{
	static const char *const texts[] = {"0",
	                                    "42",
	                                    " \t17x",
	                                    "-5",
	                                    "+5",
	                                    "",
	                                    "-",
	                                    "x",
	                                    "0x1f",
	                                    "1f",
	                                    "0x",
	                                    "09",
	                                    "--5",
	                                    "18446744073709551615",
	                                    "9223372036854775807",
	                                    "18446744073709551616",
	                                    "-9223372036854775808",
	                                    "-9223372036854775809"};
	static const int bases[] = {10, 16};
	unsigned wrong = 0;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (int k = 0; k < 2; k++) {
			char *own, *libc;
			wrong += own_strtoull(texts[i], &own, bases[k]) != strtoull(texts[i], &libc, bases[k]) ||
			         own != libc;
			wrong += own_strtoll(texts[i], &own, bases[k]) != strtoll(texts[i], &libc, bases[k]) ||
			         own != libc;
		}
	ok(wrong == 0, "numbers are read (%u are wrong)", wrong);
}

/* ---- formats ---- */

static unsigned __attribute__((format(printf, 1, 2))) differs(const char *format, ...)
{
	char own[100], libc[100];
	unsigned wrong = 0;

	for (size_t size = 0; size <= sizeof own; size += size < 3 ? 1 : 97) {
		va_list ap, again;
		va_start(ap, format);
		va_copy(again, ap);
		memset(own, 'x', sizeof own);
		memset(libc, 'x', sizeof libc);
		int a = own_vsnprintf(own, size, format, ap), b = vsnprintf(libc, size, format, again);
		wrong += a != b || memcmp(own, libc, sizeof own) != 0;
		va_end(again);
		va_end(ap);
	}
	if (wrong)
		printf("# %s\n", format);
	return wrong;
}

static void test_formats(void)
{
	unsigned wrong = 0;

	wrong += differs("plain %% text");
	wrong += differs("%d %i %u %x", -1, INT_MIN, UINT_MAX, 0xabcdu);
	wrong += differs("%ld %lu %lx %lld %llu %llx", LONG_MIN, ULONG_MAX, 1ul, LLONG_MAX, 0ull, ULLONG_MAX);
	wrong += differs("%zu %jd %hd %hhu", (size_t)7, (intmax_t)-7, (short)-3, (unsigned char)200);
	wrong += differs("%016llx %08x %02x %06u %4d|%-4d|%-4s|%4s", 1ull, 0xffu, 5u, 42u, 7, 7, "a", "b");
	wrong += differs("%.3d %.0d %.5u %8.3d %03d", 5, 0, 7u, -5, -5);
	wrong += differs("%s %.2s %.*s %.80s %5.1s|%c", "abc", "abc", 1, "xyz", "short", "long", 'c');
	wrong += differs("%*d|%-*d|%5c|%%", 5, 42, 5, 42, 'x');
	ok(wrong == 0, "numbers and texts are formatted (%u are wrong)", wrong);
	wrong = 0;
	for (int e = 1; e < 134; e++)
		wrong += strcmp(own_strerror(e), strerror(e)) != 0 && strncmp(own_strerror(e), "error ", 6) != 0;
	ok(wrong == 0 && !strcmp(own_strerror(ENOSPC), strerror(ENOSPC)), "errors have libc's texts, or their numbers");
}

/* ---- sorting ---- */

struct element {
	int key;
	int place; /* at first */
	char rest[5];
};

static int by_key(const void *a, const void *b)
{
	const struct element *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* Returns how many are not where they should be. */
static unsigned sort_wrongly(size_t n, unsigned keys, bool without_memory)
{
	struct element *e = calloc(n + 1, sizeof *e);
	struct sorting s = {without_context, &(int (*)(const void *, const void *)){by_key}, sizeof *e, NULL};
	unsigned wrong = 0;

	for (size_t i = 0; i < n; i++)
		e[i] = (struct element){(int)(random_next() % keys), (int)i, "rest"};
	if (without_memory)
		sort(&s, (char *)e, n);
	else
		own_qsort(e, n, sizeof *e, by_key);
	for (size_t i = 1; i < n; i++)
		wrong += e[i - 1].key > e[i].key || (e[i - 1].key == e[i].key && e[i - 1].place > e[i].place) ||
		         strcmp(e[i].rest, "rest") != 0;
	own_free(e);
	return wrong;
}

static void test_sorting(void)
{
	unsigned wrong = 0;

	for (size_t n = 0; n < 300; n++)
		for (int without = 0; without < 2; without++)
			wrong += sort_wrongly(n, 1 + (unsigned)(random_next() % 50), without) +
			         sort_wrongly(n, 1u << 30, without);
	wrong += sort_wrongly(20000, 1000, true) + sort_wrongly(20000, 1000, false);
	ok(wrong == 0, "what is equal keeps its order, with memory and without (%u are wrong)", wrong);
}

/* ---- memory ---- */

#define PIECES 2000

struct use {
	unsigned char *p[PIECES], mark[PIECES];
	size_t n[PIECES];
	uint64_t random;
	unsigned wrong;
};

static uint64_t use_random(struct use *u)
{
	u->random ^= u->random << 13;
	u->random ^= u->random >> 7;
	return u->random ^= u->random << 17;
}

static bool is_marked(const unsigned char *p, size_t n, unsigned char mark)
{
	return n == 0 || (p[0] == mark && p[n / 2] == mark && p[n - 1] == mark);
}

/* Allocates, grows and frees pieces of all sizes, and looks whether each has what was written to it. */
static void use_memory(struct use *u, int steps)
{
	for (int step = 0; step < steps; step++) {
		size_t i = use_random(u) % PIECES, n = use_random(u) % (UINT64_C(1) << use_random(u) % 18);
		u->wrong += !is_marked(u->p[i], u->n[i], u->mark[i]);
		if (use_random(u) % 3 == 0) {
			unsigned char *p = own_realloc(u->p[i], n);
			u->wrong += !p || !is_marked(p, n < u->n[i] ? n : 0, u->mark[i]);
			u->p[i] = p;
		} else {
			own_free(u->p[i]);
			u->p[i] = use_random(u) % 2 ? own_malloc(n) : own_calloc(1, n);
		}
		u->wrong += !u->p[i] || (uintptr_t)u->p[i] % 16 || own_malloc_usable_size(u->p[i]) < n;
		u->n[i] = u->p[i] ? n : 0;
		u->mark[i] = (unsigned char)use_random(u);
		memset(u->p[i], u->mark[i], u->n[i]);
	}
}

static void use_end(struct use *u)
{
	for (size_t i = 0; i < PIECES; i++)
		own_free(u->p[i]);
	memset(u->p, 0, sizeof u->p);
	memset(u->n, 0, sizeof u->n);
}

static struct use uses[4], in_handler;

static void *use_in_thread(void *use)
{
	use_memory(use, 60000);
	use_end(use);
	return NULL;
}

/* The next signal may come to another thread. */
static void on_alarm(int signal)
{
	static bool busy;

	(void)signal;
	if (__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE))
		return;
	use_memory(&in_handler, 20);
	__atomic_store_n(&busy, false, __ATOMIC_RELEASE);
}

static void test_memory(void)
{
	const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	pthread_t thread[4];

	own_free(NULL);
	ok(!own_calloc(SIZE_MAX, 2) && !own_malloc(SIZE_MAX) && !own_malloc(SIZE_MAX / 2),
	   "what is too much is not to be had");
	void *p = own_aligned_alloc(64, 64);
	ok(p && (uintptr_t)p % 64 == 0, "what is aligned");
	own_free(p);
	for (int i = 0; i < 4; i++)
		uses[i].random = 1 + (uint64_t)i;
	in_handler.random = 99;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, use_in_thread, &uses[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	unsigned wrong = in_handler.wrong;
	for (int i = 0; i < 4; i++)
		wrong += uses[i].wrong;
	ok(wrong == 0, "four threads, and a signal handler that interrupts them: %u pieces are wrong", wrong);
	use_end(&in_handler);
}

/* All pages that there are; each has the address of the one before. */
static size_t take_all(void **pages)
{
	size_t n = 0;
	void **page;

	for (; (page = own_malloc(4096)); n++) {
		*page = *pages;
		*pages = page;
	}
	return n;
}

static void give_all(void *pages)
{
	for (void *page = pages, *next; page; page = next) {
		next = *(void **)page;
		own_free(page);
	}
}

static void test_reserve(void)
{
	enum { SIZE = 1 << 23 };
	void *pages = NULL;

	memory_reserve(SIZE / MEMORY_RESERVE);
	is_reserved = true; /* also where there is a limit */
	memory_quiet(true);
	size_t n = take_all(&pages);
	ok(n >= SIZE / 4096 && !own_malloc(LARGE), "quiet: %zu pages, and then no more", n);
	give_all(pages);
	memory_rest();
	pages = NULL;
	size_t again = take_all(&pages);
	ok(again == n, "and to be had again: %zu", again);
	memory_quiet(false);
	void *more = own_malloc(4096);
	ok(more != NULL, "not quiet: more");
	own_free(more);
	give_all(pages);
}

int main(void)
{
	test_copies();
	test_comparisons();
	test_searches();
	test_patterns();
	test_numbers();
	test_formats();
	test_sorting();
	test_memory();
	test_reserve();
	return tap_end();
}
