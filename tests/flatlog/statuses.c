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

/* What a file call moved: MPI writes the count alone. */
struct fields fields_of_file(const MPI_Status *s, MPI_Datatype type)
{
	struct fields f = fields_all("-");
	int count = 0;

	free(f.count);
	if (s)
		PMPI_Get_count(s, type, &count);
	f.count = s ? say_count(count) : say_name("?");
	return f;
}

struct fields fields_of(const MPI_Status *s, MPI_Datatype type, int describes)
{
	int cancelled = 0;

	if (describes & OF_FILE)
		return fields_of_file(s, type);

	/* empty: of a persistent request that a call which failed had completed, and whose handle does not say so */
	if (describes && s && s->MPI_SOURCE == MPI_ANY_SOURCE)
		describes = 0;
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

void line_put_moved(struct line *l, int i, const char *name, const MPI_Status *s, MPI_Datatype type)
{
	fields_put(l, i, name, fields_of_file(ignored(s) ? NULL : s, type));
}

void line_put_fmoved(struct line *l, int i, const char *name, const int *s, MPI_Datatype type)
{
	MPI_Status c;

	if (!ignored(s))
		PMPI_Status_f2c(s, &c);
	line_put_moved(l, i, name, ignored(s) ? NULL : &c, type);
}

/* Does the status of a call's argument name a message? What nobody has written has any source. */
static bool names_message(const MPI_Status *s)
{
	int cancelled = 0;

	PMPI_Test_cancelled(s, &cancelled);
	return !cancelled && s->MPI_SOURCE != MPI_ANY_SOURCE && s->MPI_SOURCE > -(1 << 20) && s->MPI_SOURCE < 1 << 24;
}

void line_put_status(struct line *l, int i, const char *name, const MPI_Status *s, MPI_Datatype type, bool arrives)
{
	MPI_Count bytes = 0;

	s = ignored(s) ? NULL : s;
	if (s && !arrives && !names_message(s)) { /* empty, or of a file */
		PMPI_Get_elements_x(s, MPI_BYTE, &bytes);
		fields_put(l, i, name, bytes ? fields_of_file(s, type) : fields_all("-"));
		return;
	}
	fields_put(l, i, name, arrives ? fields_of_message(s, type) : fields_of(s, type, RECEIVE));
}

void line_put_fstatus(struct line *l, int i, const char *name, const int *s, MPI_Datatype type, bool arrives)
{
	MPI_Status c;

	if (!ignored(s))
		PMPI_Status_f2c(s, &c);
	line_put_status(l, i, name, ignored(s) ? NULL : &c, type, arrives);
}
