/* SPDX-License-Identifier: BSD-3-Clause
 * spawn - wrappers of MPI_Comm_spawn and MPI_Comm_spawn_multiple
 */
#include "preload/spawn.h"

#include <stdio.h>

#define NAMES_SIZE 4000

/* A text that grows in a buffer and is cut where that ends. */
struct names {
	char text[NAMES_SIZE + 8];
	size_t n;
	bool cut;
	bool ok; /* of a call that succeeded */
};

static void add_char(struct names *s, char ch)
{
	if (s->n < NAMES_SIZE)
		s->text[s->n++] = ch;
	else
		s->cut = true;
}

static void add_quoted(struct names *s, struct text t, bool first)
{
	ptrdiff_t length = !t.bytes ? 0 : t.n == TEXT_C ? readable_length(s->ok, t.bytes) : (ptrdiff_t)t.n;
	size_t n = length > 0 ? (size_t)length : 0, before = s->n;

	if (!first)
		add_char(s, ',');
	add_char(s, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char b = t.bytes[i];
		char hex[5];

		if (b == '"' || b == '\\')
			add_char(s, '\\');
		if (b >= 0x20 && b != 0x7f) {
			add_char(s, b);
			continue;
		}
		snprintf(hex, sizeof(hex), "\\x%02x", b);
		for (int k = 0; k < 4; k++)
			add_char(s, hex[k]);
	}
	add_char(s, '"');
	if (s->cut)
		s->n = before;
}

static void put_names(struct call *c, struct names *s)
{
	memcpy(s->text + s->n, s->cut ? ",...]" : "]", s->cut ? 6 : 2);
	call_put(c, call_constant_named(c, s->text));
}

static struct text argument_at(const struct names *s, const struct arguments *a, size_t i)
{
	struct text t;

	if (a->c)
		return text_c(readable_array(s->ok, &a->c[i], 1, sizeof(a->c[i])) ? a->c[i] : NULL);
	if (!a->fortran)
		return text_c(NULL);
	t = text_fortran(a->fortran + i * a->stride * a->length, a->length);
	return t.n ? t : text_c(NULL);
}

static void add_arguments(struct names *s, const struct arguments *a)
{
	struct text t;

	add_char(s, '[');
	for (size_t i = 0; !s->cut && (t = argument_at(s, a, i)).bytes; i++)
		add_quoted(s, t, i == 0);
}

static void put_errcodes(struct call *c, const struct spawn *s, bool valid, int n)
{
	if (valid && s->errcodes)
		PUT_ARRAY(c, s->errcodes, n, s->errcodes[i_]);
	else
		call_put_absent(c);
}

void record_MPI_Comm_spawn(struct call *c, bool ok, int rc, const struct spawn *s)
{
	const struct comm_info info = handle_comm(c, s->comm, ok, NULL);
	const bool is_root = comm_at_root(&info, s->root);
	struct names names = {.ok = ok};

	if (is_root) {
		put_text(c, s->command, ok);
		add_arguments(&names, &s->argv);
		put_names(c, &names);
		call_put(c, s->maxprocs);
		put_handle(c, HANDLE_INFO, HANDLE_BITS(s->info), ok);
	} else {
		for (int i = 0; i < 4; i++)
			call_put_absent(c);
	}
	call_put(c, role_root(c, s->root));
	put_comm(c, &info);
	put_new_comm(c, s->intercomm, ok, NULL);
	put_errcodes(c, s, ok && is_root, s->maxprocs);
	wrap_commit(c, ok, rc);
}

static void put_multiple(struct call *c, bool ok, const struct spawn *s)
{
	struct names names = {.ok = ok};

	call_put(c, s->count);
	add_char(&names, '[');
	for (int i = 0; !names.cut && i < s->count; i++)
		add_quoted(&names, argument_at(&names, &s->commands, (size_t)i), i == 0);
	put_names(c, &names);
	names = (struct names){.ok = ok};
	add_char(&names, '[');
	for (int i = 0; !names.cut && i < s->count && !s->no_argvs; i++) {
		struct arguments row = s->argv;

		if (s->argvs)
			row.c = readable_array(ok, &s->argvs[i], 1, sizeof(s->argvs[i])) ? s->argvs[i] : NULL;
		else
			row.fortran += (size_t)i * row.length;
		if (i)
			add_char(&names, ',');
		add_arguments(&names, &row);
		if (!names.cut)
			add_char(&names, ']');
	}
	put_names(c, &names);
	PUT_ARRAY(c, readable_array(ok, s->array_of_maxprocs, n_, sizeof(int)), s->count, s->array_of_maxprocs[i_]);
	PUT_ARRAY(c,
	          s->infos.c ? readable_array(ok, s->infos.c, n_, sizeof(MPI_Info))
	                     : readable_array(ok, s->infos.f, n_, sizeof(MPI_Fint)),
	          s->count, handle_value(c, handle_number(HANDLE_INFO, bits_info(s->infos, i_), ok)));
}

void record_MPI_Comm_spawn_multiple(struct call *c, bool ok, int rc, const struct spawn *s)
{
	const struct comm_info info = handle_comm(c, s->comm, ok, NULL);
	const bool is_root = comm_at_root(&info, s->root);

	if (is_root) {
		put_multiple(c, ok, s);
	} else {
		for (int i = 0; i < 5; i++)
			call_put_absent(c);
	}
	call_put(c, role_root(c, s->root));
	put_comm(c, &info);
	put_new_comm(c, s->intercomm, ok, NULL);
	put_errcodes(c, s, ok && is_root, ok && is_root ? length_sum(ok, s->array_of_maxprocs, s->count) : 0);
	wrap_commit(c, ok, rc);
}

int wrap_MPI_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                        MPI_Comm *intercomm, int array_of_errcodes[])
{
	struct call c;
	bool ok;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Comm_spawn))
		return next.MPI_Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
	rc = next.MPI_Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
	ok = wrap_end(&c, rc);
	record_MPI_Comm_spawn(&c, ok, rc,
	                      &(struct spawn){.command = text_c(command),
	                                      .argv = {.c = argv},
	                                      .maxprocs = maxprocs,
	                                      .info = info,
	                                      .root = root,
	                                      .comm = comm,
	                                      .intercomm = intercomm,
	                                      .errcodes = array_of_errcodes});
	return rc;
}

int wrap_MPI_Comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                                 const int array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm,
                                 MPI_Comm *intercomm, int array_of_errcodes[])
{
	struct call c;
	bool ok;
	int rc;

	if (!wrap_begin(&c, FN_MPI_Comm_spawn_multiple))
		return next.MPI_Comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs,
		                                    array_of_info, root, comm, intercomm, array_of_errcodes);
	rc = next.MPI_Comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info,
	                                  root, comm, intercomm, array_of_errcodes);
	ok = wrap_end(&c, rc);
	record_MPI_Comm_spawn_multiple(&c, ok, rc,
	                               &(struct spawn){.count = count,
	                                               .commands = {.c = array_of_commands},
	                                               .argvs = array_of_argv,
	                                               .no_argvs = array_of_argv == MPI_ARGVS_NULL,
	                                               .array_of_maxprocs = array_of_maxprocs,
	                                               .infos = {array_of_info, NULL},
	                                               .root = root,
	                                               .comm = comm,
	                                               .intercomm = intercomm,
	                                               .errcodes = array_of_errcodes});
	return rc;
}
