/* SPDX-License-Identifier: BSD-3-Clause
 * call_function - calls of a program that differ in their values only, as calls of a function
 */
#include "proxy/call_function.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

#define BODY "\tcompute(site);\n\tMPI_Thing(buffer(OUT, \x80), \x80, \x81, *\x82);\n"

/* Adds MPI_Thing with three values. */
static void add(struct call_functions *f, FILE *out, uint32_t number, const char *count, const char *comm,
                const char *type)
{
	struct call_body body = {.mpi = "MPI_Thing", .text = strdup(BODY), .parameters = 3};
	struct call_made made = {.number = number, .indent = 1, .before = strdup(""), .behind = strdup("")};
	body.types[0] = strdup("long \x02"
	                       "count");
	body.types[1] = strdup("MPI_Comm \x02"
	                       "comm_here");
	body.types[2] = strdup("MPI_Datatype *\x02"
	                       "type_here");
	made.values[0] = strdup(count);
	made.values[1] = strdup(comm);
	made.values[2] = strdup(type);
	made.plain = strdup("\tcompute(1);\n\tMPI_Thing(as it is, without a function, which is a rather long text);\n");
	if (call_functions_add(f, &body, &made, out) != 0)
		abort();
}

struct made {
	struct call_functions f;
	char *text, *functions;
};

static void make(struct made *m, uint32_t calls, const char *other_comm)
{
	size_t size;
	struct names names = {0};
	FILE *out = open_memstream(&m->text, &size);
	m->f = (struct call_functions){0};
	for (uint32_t i = 0; i < calls; i++)
		add(&m->f, out, 40 + i, i == 2 ? "list_3[v]" : "7", i == 3 ? other_comm : "comm[4]", "&type[0]");
	fputs("\tlast();\n", out);
	fclose(out);
	out = open_memstream(&m->functions, &size);
	if (call_functions_choose(&m->f, &names, out) != 0 || call_functions_expand(&m->f, &m->text) != 0)
		abort();
	fclose(out);
	names_free(&names);
}

static void made_end(struct made *m)
{
	call_functions_free(&m->f);
	free(m->text);
	free(m->functions);
}

int main(void)
{
	struct made m;
	make(&m, 2, "");
	ok(!*m.functions && strstr(m.text, "as it is") && strstr(m.text, "\tlast();\n"),
	   "a few calls stay as they are");
	made_end(&m);
	make(&m, 8, "comm[4]");
	ok(strcmp(m.functions, "static void Thing(int site, long count)\n{\n\tcompute(site);\n"
	                       "\tMPI_Thing(buffer(OUT, count), count, comm[4], type[0]);\n}\n\n") == 0,
	   "what is always the same is in the function: %s", m.functions);
	ok(strncmp(m.text, "\tThing(40, 7);\n\tThing(41, 7);\n\tThing(42, list_3[v]);\n", 50) == 0 &&
	           strstr(m.text, "\tlast();\n"),
	   "what is not is given: %s", m.text);
	made_end(&m);
	make(&m, 8, "comm[5]");
	ok(strstr(m.functions, "(int site, long count, MPI_Comm comm_here)") &&
	           strstr(m.text, "Thing(43, 7, comm[5]);\n"),
	   "so it is with handles: %s", m.functions);
	made_end(&m);
	make(&m, 8, "comm[v]");
	ok(strstr(m.text, "Thing(43, 7, comm[v]);\n") != NULL, "and with expressions");
	made_end(&m);
	return tap_end();
}
