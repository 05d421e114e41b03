/* SPDX-License-Identifier: BSD-3-Clause
 * statuses - a status is said as three parameters
 */
#include "tests/flatlog/flatlog.h"

struct fields fields_all(const char *text)
{
	return (struct fields){say_name(text), say_name(text), say_name(text)};
}

/* Of a message that was received or probed. */
static struct fields fields_of_message(const MPI_Status *s, MPI_Datatype type)
{
	int count = 0;

	if (!s)
		return fields_all("?");
	PMPI_Get_count(s, type, &count);
	return (struct fields){say_peer(s->MPI_SOURCE), say_tag(s->MPI_TAG), say_count(count)};
}

struct fields fields_of(const MPI_Status *s, MPI_Datatype type, bool describes)
{
	int cancelled = 0;

	if (describes && s)
		PMPI_Test_cancelled(s, &cancelled);
	return !describes || cancelled ? fields_all("-") : fields_of_message(s, type);
}

void fields_put(struct line *l, int i, const char *name, struct fields f)
{
	char *text = say_append(say_name(name), 0, say_name(".MPI_SOURCE="));

	text = say_append(text, 0, f.source);
	text = say_append(say_append(say_append(text, 0, say_name(" ")), 0, say_name(name)), 0, say_name(".MPI_TAG="));
	text = say_append(text, 0, f.tag);
	text = say_append(say_append(say_append(text, 0, say_name(" ")), 0, say_name(name)), 0, say_name(".count="));
	free(l->part[i]);
	l->part[i] = say_append(text, 0, f.count);
}

void line_absent_status(struct line *l, int i, const char *name)
{
	fields_put(l, i, name, fields_all("-"));
}

void line_put_status(struct line *l, int i, const char *name, const MPI_Status *s, MPI_Datatype type, bool arrives)
{
	s = ignored(s) ? NULL : s;
	fields_put(l, i, name, arrives ? fields_of_message(s, type) : fields_of(s, type, true));
}

void line_put_fstatus(struct line *l, int i, const char *name, const int *s, MPI_Datatype type, bool arrives)
{
	MPI_Status c;

	if (!ignored(s))
		PMPI_Status_f2c(s, &c);
	line_put_status(l, i, name, ignored(s) ? NULL : &c, type, arrives);
}
