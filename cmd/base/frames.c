/* SPDX-License-Identifier: BSD-3-Clause
 * frames - frames of call paths as text
 *
 * libdwfl finds functions and lines. It is given each file at bias 0, so that the offsets of the trace are its
 * addresses.
 */
#include "cmd/base/frames.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/base/symbols.h"
#include "trace/base/index.h"
#include "trace/base/path.h"
#include "trace/base/regular.h"
#include "trace/record/record.h"

struct module_names {
	bool tried;
	Dwfl *dwfl; /* NULL: the file is not there, or is another one now */
	Dwfl_Module *module;
	struct symbols *symbols;
};

/* Many nodes are of one frame: what was found is kept. */
struct frame {
	uint32_t module;
	uint64_t offset;
	size_t function; /* length of the function's name, of which the text begins; 0: not known */
	char *text;
};

struct frames {
	const struct trace *trace;
	struct module_names *modules;
	struct frame *known;
	size_t count, capacity;
	struct index index;
};

struct frames *frames_create(const struct trace *t)
{
	struct frames *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	unsetenv("DEBUGINFOD_URLS"); /* a trace is no reason to tell a server what ran */
	p->trace = t;
	p->modules = calloc((size_t)t->module_count + 1, sizeof *p->modules);
	if (!p->modules) {
		free(p);
		return NULL;
	}
	return p;
}

void frames_destroy(struct frames *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->trace->module_count; i++) {
		symbols_free(p->modules[i].symbols);
		if (p->modules[i].dwfl)
			dwfl_end(p->modules[i].dwfl);
	}
	for (size_t i = 0; i < p->count; i++)
		free(p->known[i].text);
	free(p->known);
	index_free(&p->index);
	free(p->modules);
	free(p);
}

/* Debug information is looked for beside the file and in the system's debug folder. (DEBUGINFOD_URLS, which would have
 * a server asked, is not set any more.) */
static const Dwfl_Callbacks callbacks = {.find_debuginfo = dwfl_standard_find_debuginfo,
                                         .find_elf = dwfl_build_id_find_elf,
                                         .section_address = dwfl_offline_section_address};

/* Accounts below are the system's: what they own is as good as root's. */
#define SYSTEM_UIDS 1000

/* Opens a file that a trace names, which may be any name: whoever made the trace decides neither what is waited for (a
 * FIFO, a device), nor whose file the ELF library takes apart in this process. Returns -1 if it is none to be opened.
 * */
static int open_named(const char *name)
{
	struct stat st;
	int fd = name[0] == '/' ? regular_open(AT_FDCWD, name, REGULAR_ANYBODY, &st, NULL) : -1;
	if (fd < 0 || st.st_uid < SYSTEM_UIDS || st.st_uid == geteuid())
		return fd;
	close(fd);
	return -1;
}

static void module_open(struct frames *p, uint32_t number)
{
	struct module_names *m = &p->modules[number];
	const struct pool_item *strings = p->trace->strings.items;
	const struct pool_item *name = &strings[p->trace->modules[number].name],
			       *id = &strings[p->trace->modules[number].build_id];
	const unsigned char *bits;
	GElf_Addr address;
	m->tried = true;
	int fd = open_named((const char *)name->bytes);
	if (fd < 0)
		return;
	m->dwfl = dwfl_begin(&callbacks);
	if (m->dwfl)
		m->module =
			dwfl_report_elf(m->dwfl, (const char *)name->bytes, (const char *)name->bytes, fd, 0, false);
	if (m->module) {
		dwfl_report_end(m->dwfl, NULL, NULL);
		int n = dwfl_module_build_id(m->module, &bits, &address);
		if (n >= 0 && (size_t)n == id->size && (n == 0 || memcmp(bits, id->bytes, id->size) == 0))
			return; /* dwfl keeps fd */
	} else {
		close(fd);
	}
	if (m->dwfl)
		dwfl_end(m->dwfl);
	m->dwfl = NULL;
	m->module = NULL;
}

/* Names of files may hold line ends, and what terminals take for commands. */
static void disarm(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

#define FRAME_TEXT 1024

/* Writes the text of a frame of a module, and returns the length of the function's name in it. */
static size_t find_frame(struct frames *p, uint32_t module, uint64_t offset, char *out)
{
	struct module_names *m = &p->modules[module];
	const char *file = (const char *)p->trace->strings.items[p->trace->modules[module].name].bytes;
	const char *base = path_name(file);
	const char *name = NULL, *source = NULL;
	char function[FRAME_TEXT / 2];
	int line = 0;
	if (!m->tried)
		module_open(p, module);
	if (m->module) {
		GElf_Addr bias = 0;
		dwfl_module_getelf(m->module, &bias);
		/* the return address may be the next function's: the call is before it */
		GElf_Addr address = offset - 1 + bias;
		if (!m->symbols)
			m->symbols = symbols_make(m->module);
		name = m->symbols ? symbols_at(m->symbols, address) : NULL;
		Dwfl_Line *at = dwfl_module_getsrc(m->module, address);
		if (at)
			source = dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL);
	}
	symbol_readable(name ? name : "?", function, sizeof function);
	if (source)
		snprintf(out, FRAME_TEXT, "%s at %s:%d (%s)", function, path_name(source), line, base);
	else if (name)
		snprintf(out, FRAME_TEXT, "%s (%s+0x%" PRIx64 ")", function, base, offset);
	else
		snprintf(out, FRAME_TEXT, "%s+0x%" PRIx64, base, offset);
	disarm(out);
	return name ? strlen(function) : 0;
}

struct frame_wanted {
	const struct frames *frames;
	const struct trace_node *node;
};

static bool frame_equal(const void *context, uint32_t i)
{
	const struct frame_wanted *w = context;
	return w->frames->known[i].module == w->node->module && w->frames->known[i].offset == w->node->offset;
}

/* Returns NULL on no memory. */
static const struct frame *get_frame(struct frames *p, const struct trace_node *n)
{
	uint64_t hash = hash_mix(n->module, n->offset);
	uint32_t i = index_find(&p->index, hash, frame_equal, &(struct frame_wanted){p, n});
	char text[FRAME_TEXT];
	if (i != INDEX_NONE)
		return &p->known[i];
	if (p->count == p->capacity) {
		struct frame *more = realloc(p->known, (2 * p->capacity + 64) * sizeof *more);
		if (!more)
			return NULL;
		p->known = more;
		p->capacity = 2 * p->capacity + 64;
	}
	struct frame *f = &p->known[p->count];
	*f = (struct frame){.module = n->module, .offset = n->offset};
	f->function = find_frame(p, n->module, n->offset, text);
	f->text = strdup(text);
	if (!f->text || index_add(&p->index, hash, (uint32_t)p->count) != 0) {
		free(f->text);
		return NULL;
	}
	p->count++;
	return f;
}

static const char *gap_text(uint64_t gap)
{
	static const char *const gaps[] = {
		[GAP_NO_UNWIND] = "... (no unwind information further out)",
		[GAP_TOO_DEEP] = "... (deeper than is recorded)",
		[GAP_NO_MODULE] = "(code made at run time)",
		[GAP_CUT] = "... (cut: memory was short)",
		[GAP_SMALL] = "... (cut: so that the trace is small)",
		[GAP_STACK] = "... (cut: foreign stack)",
	};
	return gap < sizeof gaps / sizeof *gaps && gaps[gap] ? gaps[gap] : "... (unknown gap)";
}

void frames_text(struct frames *p, uint32_t node, char *out, size_t size)
{
	const struct trace_node *n = &p->trace->nodes[node];
	const struct frame *f = n->module == UINT32_MAX ? NULL : get_frame(p, n);
	snprintf(out, size, "%s", n->module == UINT32_MAX ? gap_text(n->offset) : f ? f->text : "?");
}

void frames_function(struct frames *p, uint32_t node, char *out, size_t size)
{
	const struct trace_node *n = &p->trace->nodes[node];
	const struct frame *f = n->module == UINT32_MAX ? NULL : get_frame(p, n);
	if (f && f->function)
		snprintf(out, size, "%.*s", (int)f->function, f->text);
	else
		frames_text(p, node, out, size);
}
