/* SPDX-License-Identifier: BSD-3-Clause
 * image - a policy in the form in which it is asked: arrays without pointers, with an index; inside of policy/ only
 *
 * Rules, their conditions, patterns and settings stand in one array each and refer to each other by number; texts are
 * in a pool and are referred to by their offset (0 is ""). So the same bytes serve in memory and in a file that is
 * mapped (the cache).
 *
 * The index: a rule that has a condition on a text, all of whose patterns begin with some fixed bytes, is found by
 * those bytes (at most IMAGE_PREFIX of them); `always` has a bit for each of the other rules. Who asks collects the
 * bits of the rules that may match, and looks at these in order:
 *
 *     rules 0: user=alice   1: nodes_min=4   2: account=chem*,phys      always: .1.
 *     index (user,"alice") -> 0, (account,"chem") -> 2, (account,"phys") -> 2
 *     a job of bob's, account chem7: bits .1. | ..1
 */
#ifndef SPOOR_IMAGE_H
#define SPOOR_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/decision.h"
#include "policy/glob.h"
#include "trace/base/error.h"

/* What users may choose for themselves. */
enum user_choice { USER_ANY, USER_RAISE, USER_LOWER, USER_OFF, USER_NONE };

/* The members of struct head's counts, in the order of the arrays in the file. */
enum image_part {
	PART_RULES,
	PART_CONDITIONS,
	PART_GLOBS,
	PART_VALUES,
	PART_POSTINGS,
	PART_ALWAYS,
	PART_FILES,
	PART_STRINGS,
	PARTS
};

struct rule {
	uint32_t name;       /* text */
	uint32_t file, line; /* which of the files, and where */
	uint32_t condition, conditions;
	uint32_t value, values;
	struct mode mode;
	int32_t user;     /* enum user_choice, or -1: the policy's */
	uint32_t archive; /* text; 0: the policy's */
};

struct condition {
	uint32_t what;        /* of condition_table */
	uint32_t glob, globs; /* of a CONDITION_TEXT; of a CONDITION_TIME pairs in globs[].text (minutes from, to) */
	uint32_t share;       /* of a CONDITION_SHARE: of 2^32 */
	uint64_t least, most; /* of a CONDITION_RANGE */
};

/* A setting that a rule says. */
struct value {
	uint32_t setting, text;
	uint64_t number;
};

struct posting {
	uint64_t key;
	uint64_t rule;
};

struct head {
	char magic[64]; /* names this build: another one does not read it */
	uint64_t counts[PARTS];
	uint64_t source;          /* text: what the files were, as source_identify says it */
	struct decision defaults; /* mode, archive, spool, admin_group, settings */
	uint32_t main_file;
	uint32_t mode_line;               /* where "mode" stands; 1 if it is not there */
	uint32_t set_line[setting_count]; /* where a setting stands; 0: it is not there */
	uint32_t user;                    /* enum user_choice */
	uint32_t has_cap, cap_line;
	struct mode cap_mode;
	bool cap_has[setting_count];
	struct settings cap;
	uint64_t used; /* bits of condition_table: which conditions any rule has */
};

struct policy {
	struct head head;
	struct rule *rules;
	struct condition *conditions;
	struct glob *globs;
	struct value *values;
	struct posting *postings;
	uint64_t *always; /* a bit a rule */
	uint32_t *files;  /* texts */
	char *strings;
	size_t room[PARTS]; /* of the arrays while they grow */
	void *map;          /* the arrays are in here, and not to be freed one by one */
	size_t map_size;
};

#define IMAGE_PREFIX 12

static inline const char *policy_text(const struct policy *p, uint64_t offset)
{
	return p->strings + offset;
}

struct policy *image_create(void);
void image_destroy(struct policy *p);

/* Adds an element, copied from item, and returns its number; UINT32_MAX if memory is short. */
uint32_t image_add(struct policy *p, enum image_part part, const void *item);
uint32_t image_add_text(struct policy *p, const char *text);
/* Makes the index; the policy is complete then. Returns 0 or -1 (no memory). */
int image_index(struct policy *p);

/* The key of the index for a condition and the first n bytes of a value. */
uint64_t image_key(uint32_t what, const char *bytes, size_t n);
/* Sets the bits of the rules that the key stands for. */
void image_find(const struct policy *p, uint64_t key, uint64_t *bits);

/* Writes to a temporary name and renames. Returns 0 or -1 with errno. */
int image_save(const struct policy *p, int folder, const char *name);
/* Maps one that image_save wrote. NULL: there is none, or it is of another build, or of other sources. */
struct policy *image_load(int folder, const char *name, const char *source);

#endif
