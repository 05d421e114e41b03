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

#include "trace/record/record.h"
#include "trace/base/regular.h"

struct module_names {
	bool tried;
	Dwfl *dwfl; /* NULL: the file is not there, or is another one now */
	Dwfl_Module *module;
};

struct frames {
	const struct trace *trace;
	struct module_names *modules;
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
	for (uint32_t i = 0; i < p->trace->module_count; i++)
		if (p->modules[i].dwfl)
			dwfl_end(p->modules[i].dwfl);
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

void frames_text(struct frames *p, uint32_t node, char *out, size_t size)
{
	static const char *const gaps[] = {
		[GAP_NO_UNWIND] = "... (no unwind information further out)",
		[GAP_TOO_DEEP] = "... (deeper than is recorded)",
		[GAP_NO_MODULE] = "(code made at run time)",
	};
	const struct trace_node *n = &p->trace->nodes[node];
	if (n->module == UINT32_MAX) {
		bool known = n->offset < sizeof gaps / sizeof *gaps && gaps[n->offset];
		snprintf(out, size, "%s", known ? gaps[n->offset] : "... (unknown gap)");
		return;
	}
	struct module_names *m = &p->modules[n->module];
	const char *file = (const char *)p->trace->strings.items[p->trace->modules[n->module].name].bytes;
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	if (!m->tried)
		module_open(p, n->module);
	const char *function = NULL, *source = NULL;
	int line = 0;
	if (m->module) {
		GElf_Addr bias = 0;
		dwfl_module_getelf(m->module, &bias);
		/* the return address may be the next function's: the call is before it */
		GElf_Addr address = n->offset - 1 + bias;
		function = dwfl_module_addrname(m->module, address);
		Dwfl_Line *at = dwfl_module_getsrc(m->module, address);
		if (at)
			source = dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL);
	}
	if (source) {
		slash = strrchr(source, '/');
		snprintf(out, size, "%s at %s:%d (%s)", function ? function : "?", slash ? slash + 1 : source, line,
		         base);
	} else if (function) {
		snprintf(out, size, "%s (%s+0x%" PRIx64 ")", function, base, n->offset);
	} else {
		snprintf(out, size, "%s+0x%" PRIx64, base, n->offset);
	}
	for (; *out; out++) { /* names of files may hold line ends, and what terminals take for commands */
		if ((unsigned char)*out < 0x20 || *out == 0x7f)
			*out = '?';
	}
}
