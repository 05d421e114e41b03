/* SPDX-License-Identifier: BSD-3-Clause
 * joined_calls - calls of a program that stand together again and again become calls of one function
 */
#include "proxy/joined_calls.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

static const char FUNCTIONS[] =
	"static void Type_commit(int site)\n{\n\tcompute(site);\n\tMPI_Type_commit(&type[0]);\n}\n\n"
	"static void Send(int site, long count, MPI_Datatype datatype, long dest, MPI_Comm "
	"comm_here)\n{\n\tcompute(site);\n"
	"\tMPI_Send(buffer(OUT, count, datatype), count, datatype, dest, 3, comm_here);\n}\n\n"
	"static void Type_free(int site)\n{\n\tcompute(site);\n\tMPI_Type_free(&type[0]);\n}\n\n";

struct made {
	char *texts[2], *functions;
};

/* So many places of a text with a number of a call site, a second one, and a third one. */
static void make(struct made *m, const char *place, unsigned places, unsigned step)
{
	struct names names = {NULL};
	size_t size;
	FILE *out = open_memstream(&m->texts[0], &size);
	for (unsigned i = 0; i < places; i++) {
		const unsigned site = 10 * i;
		fputs("\tif (here) {\n", out);
		for (const char *at = place; *at; at++)
			if (*at >= '0' && *at <= '9')
				fprintf(out, "%u", site + (unsigned)(*at - '0') * step);
			else
				fputc(*at, out);
		fputs("\t}\n", out);
	}
	fclose(out);
	m->texts[1] = strdup("\tend();\n");
	out = open_memstream(&m->functions, &size);
	ok(joined_calls_make(m->texts, 2, FUNCTIONS, &names, out) == 0 && strcmp(m->texts[1], "\tend();\n") == 0,
	   "made, and other lines stay");
	fclose(out);
	names_free(&names);
}

static void made_end(struct made *m)
{
	free(m->texts[0]);
	free(m->texts[1]);
	free(m->functions);
}

static unsigned count(const char *text, const char *part)
{
	unsigned n = 0;
	for (; (text = strstr(text, part)) != NULL; text++)
		n++;
	return n;
}

int main(void)
{
	struct made m;
	make(&m, "\t\tType_commit(0);\n\t\tSend(1, next(a), type[x], -1, comm[b]);\n\t\tType_free(2);\n", 1, 1);
	ok(!*m.functions, "in one place");
	made_end(&m);

	make(&m,
	     "\t\tType_commit(0);\n\t\tSend(1, rank, MPI_INT, v, comm[v]);\n\t\tSend(2, v, MPI_INT, v, comm[v]);\n"
	     "\t\tType_free(3);\n",
	     20, 1);
	ok(strcmp(m.functions, "static void Send(int site)\n{\n"
	                       "\tType_commit(site);\n\tSend(site + 1, rank, MPI_INT, v, comm[v]);\n"
	                       "\tSend(site + 2, v, MPI_INT, v, comm[v]);\n\tType_free(site + 3);\n}\n\n") != 0 &&
	           strstr(m.functions,
	                  "(int site, long count, long dest, MPI_Comm comm_here)\n{\n\tType_commit(site);\n"
	                  "\tSend(site + 1, count, MPI_INT, dest, comm_here);\n"
	                  "\tSend(site + 2, dest, MPI_INT, dest, comm_here);\n\tType_free(site + 3);\n}\n"),
	   "what all have is in it, what it is given it is given once: %s", m.functions);
	ok(count(m.texts[0], "\tif (here) {\n") == 20 && count(m.texts[0], "rank, v, comm[v]);\n") == 20 &&
	           !strstr(m.texts[0], "Type_free"),
	   "its calls");
	made_end(&m);

	make(&m, "\t\tType_commit(0);\n\t\tSend(1, next(a), MPI_INT, next(a), comm[b]);\n\t\tType_free(2);\n", 20, 1);
	ok(strstr(m.functions, "(int site, long count, long dest, MPI_Comm comm_here)\n{\n\tType_commit(site);\n"
	                       "\tSend(site + 1, count, MPI_INT, dest, comm_here);\n"),
	   "what is another one each time is not the same: %s", m.functions);
	made_end(&m);

	make(&m, "\t\tType_commit(0);\n\t\tType_free(1);\n\t\tSend(2, 1, type[v], v, comm[v]);\n", 20, 1);
	ok(strstr(m.functions, "\tType_free(site + 1);\n}\n") && count(m.texts[0], "Send(") == 20,
	   "a type that a call before changes is not passed before that: %s", m.functions);
	made_end(&m);

	make(&m, "\t\tType_commit(0);\n\t\tSend(1, 1, MPI_INT, v, comm[v]);\n\t\tType_free(2);\n", 20, 2);
	ok(!*m.functions && count(m.texts[0], "Type_free(") == 20, "call sites that are no neighbours");
	made_end(&m);
	return tap_end();
}
