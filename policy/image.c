/* SPDX-License-Identifier: BSD-3-Clause
 * image - a policy in the form in which it is asked
 */
#include "policy/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/condition.h"

/* The size of the head tells most changes of the tables apart that the version does not. */
static void make_magic(char out[64])
{
	memset(out, 0, 64);
	snprintf(out, 64, "spoor policy image 1 %s %zu %d %d", PACKAGE_VERSION, sizeof(struct head), CONDITIONS,
	         setting_count);
}

static const size_t sizes[PARTS] = {
	[PART_RULES] = sizeof(struct rule),       [PART_CONDITIONS] = sizeof(struct condition),
	[PART_GLOBS] = sizeof(struct glob),       [PART_VALUES] = sizeof(struct value),
	[PART_POSTINGS] = sizeof(struct posting), [PART_ALWAYS] = sizeof(uint64_t),
	[PART_FILES] = sizeof(uint32_t),          [PART_STRINGS] = 1,
};

static void **part(struct policy *p, size_t i)
{
	void **const parts[PARTS] = {
		[PART_RULES] = (void **)&p->rules,       [PART_CONDITIONS] = (void **)&p->conditions,
		[PART_GLOBS] = (void **)&p->globs,       [PART_VALUES] = (void **)&p->values,
		[PART_POSTINGS] = (void **)&p->postings, [PART_ALWAYS] = (void **)&p->always,
		[PART_FILES] = (void **)&p->files,       [PART_STRINGS] = (void **)&p->strings,
	};
	return parts[i];
}

struct policy *image_create(void)
{
	struct policy *p = calloc(1, sizeof *p);

	if (p && image_add(p, PART_STRINGS, "") != 0) {
		image_destroy(p);
		return NULL;
	}
	return p;
}

void image_destroy(struct policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < PARTS && !p->map; i++)
		free(*part(p, i));
	if (p->map)
		munmap(p->map, p->map_size);
	free(p);
}

/* Room for n more elements. */
static int grow(struct policy *p, enum image_part which, size_t n)
{
	size_t need = p->head.counts[which] + n, room = p->room[which] ? p->room[which] : 64;
	void **array = part(p, which);

	if (need <= p->room[which])
		return 0;
	if (need >= UINT32_MAX)
		return -1;
	while (room < need)
		room *= 2;
	void *more = realloc(*array, room * sizes[which]);
	if (!more)
		return -1;
	*array = more;
	p->room[which] = room;
	return 0;
}

uint32_t image_add(struct policy *p, enum image_part which, const void *item)
{
	if (grow(p, which, 1))
		return UINT32_MAX;
	memcpy((char *)*part(p, which) + p->head.counts[which] * sizes[which], item, sizes[which]);
	return (uint32_t)p->head.counts[which]++;
}

uint32_t image_add_text(struct policy *p, const char *text)
{
	size_t n = strlen(text) + 1;
	uint32_t at = (uint32_t)p->head.counts[PART_STRINGS];

	if (n == 1)
		return 0;
	if (grow(p, PART_STRINGS, n))
		return UINT32_MAX;
	memcpy(p->strings + at, text, n);
	p->head.counts[PART_STRINGS] += n;
	return at;
}

/* --- index --- */

uint64_t image_key(uint32_t what, const char *bytes, size_t n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ what;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	return (h ^ n) * UINT64_C(0x9e3779b97f4a7c15);
}

static int compare_postings(const void *a, const void *b)
{
	const struct posting *x = a, *y = b;
	return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->rule > y->rule) - (x->rule < y->rule);
}

/* A condition by which the rule is found; NULL: there is none. An executable may be known later. */
static const struct condition *find_driver(const struct policy *p, const struct rule *rule)
{
	for (uint32_t i = 0; i < rule->conditions; i++) {
		const struct condition *c = &p->conditions[rule->condition + i];
		bool sharp = condition_table[c->what].kind == CONDITION_TEXT && !condition_table[c->what].late;
		for (uint32_t j = 0; j < c->globs && sharp; j++)
			sharp = p->globs[c->glob + j].prefix > 0;
		if (sharp)
			return c;
	}
	return NULL;
}

int image_index(struct policy *p)
{
	size_t words = p->head.counts[PART_RULES] / 64 + 1;

	if (grow(p, PART_ALWAYS, words))
		return -1;
	memset(p->always, 0, words * sizeof *p->always);
	p->head.counts[PART_ALWAYS] = words;
	p->head.used = 0;
	for (size_t i = 0; i < p->head.counts[PART_CONDITIONS]; i++)
		p->head.used |= UINT64_C(1) << p->conditions[i].what;
	for (size_t r = 0; r < p->head.counts[PART_RULES]; r++) {
		const struct condition *driver = find_driver(p, &p->rules[r]);
		if (!driver)
			p->always[r / 64] |= UINT64_C(1) << r % 64;
		for (uint32_t j = 0; driver && j < driver->globs; j++) {
			const struct glob *g = &p->globs[driver->glob + j];
			size_t n = g->prefix < IMAGE_PREFIX ? g->prefix : IMAGE_PREFIX;
			struct posting posting = {image_key(driver->what, policy_text(p, g->text), n), r};
			if (image_add(p, PART_POSTINGS, &posting) == UINT32_MAX)
				return -1;
		}
	}
	if (p->head.counts[PART_POSTINGS])
		qsort(p->postings, p->head.counts[PART_POSTINGS], sizeof *p->postings, compare_postings);
	return 0;
}

void image_find(const struct policy *p, uint64_t key, uint64_t *bits)
{
	size_t low = 0, high = p->head.counts[PART_POSTINGS];

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (p->postings[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < p->head.counts[PART_POSTINGS] && p->postings[low].key == key; low++) {
		uint64_t rule = p->postings[low].rule;
		if (rule < p->head.counts[PART_RULES])
			bits[rule / 64] |= UINT64_C(1) << rule % 64;
	}
}

/* --- as a file --- */

static size_t round_up(size_t n)
{
	return (n + 7) / 8 * 8;
}

static int write_all(int fd, const void *bytes, size_t n)
{
	static const char zeros[8];
	for (size_t done = 0; done < n;) {
		ssize_t got = write(fd, (const char *)bytes + done, n - done);
		if (got < 0 && errno != EINTR)
			return -1;
		done += got > 0 ? (size_t)got : 0;
	}
	return write(fd, zeros, round_up(n) - n) == (ssize_t)(round_up(n) - n) ? 0 : -1;
}

int image_save(const struct policy *p, int folder, const char *name)
{
	struct policy copy = *p;
	char temporary[300];
	int rv = -1;

	make_magic(copy.head.magic);
	snprintf(temporary, sizeof temporary, ".%.200s.%ld", name, (long)getpid());
	int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	if (write_all(fd, &copy.head, sizeof copy.head))
		goto done;
	for (size_t i = 0; i < PARTS; i++) {
		if (write_all(fd, *part(&copy, i), copy.head.counts[i] * sizes[i]))
			goto done;
	}
	rv = renameat(folder, temporary, folder, name);
done:
	if (rv) {
		int why = errno;
		unlinkat(folder, temporary, 0);
		errno = why;
	}
	close(fd);
	return rv;
}

/* Takes the arrays out of the map. Returns 0, or -1: it is not what image_save wrote. */
static int take_parts(struct policy *p)
{
	size_t at = round_up(sizeof p->head);

	for (size_t i = 0; i < PARTS; i++) {
		if (p->head.counts[i] > p->map_size || round_up(p->head.counts[i] * sizes[i]) > p->map_size - at)
			return -1;
		*part(p, i) = (char *)p->map + at;
		at += round_up(p->head.counts[i] * sizes[i]);
	}
	return at == p->map_size && p->head.counts[PART_STRINGS] > p->head.source &&
	                       !p->strings[p->head.counts[PART_STRINGS] - 1]
	               ? 0
	               : -1;
}

struct policy *image_load(int folder, const char *name, const char *source)
{
	struct stat st;
	char magic[64];
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct policy *p = fd >= 0 ? calloc(1, sizeof *p) : NULL;

	if (!p || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077 ||
	    st.st_size < (off_t)sizeof p->head)
		goto failed;
	p->map_size = (size_t)st.st_size;
	p->map = mmap(NULL, p->map_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p->map == MAP_FAILED) {
		p->map = NULL;
		goto failed;
	}
	memcpy(&p->head, p->map, sizeof p->head);
	make_magic(magic);
	if (memcmp(magic, p->head.magic, sizeof magic) || take_parts(p) ||
	    strcmp(policy_text(p, p->head.source), source))
		goto failed;
	close(fd);
	return p;
failed:
	if (p && p->map)
		munmap(p->map, p->map_size);
	free(p);
	if (fd >= 0)
		close(fd);
	return NULL;
}
