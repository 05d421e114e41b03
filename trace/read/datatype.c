/* SPDX-License-Identifier: BSD-3-Clause
 * datatype - sizes in bytes of datatypes, from the calls that made them
 */
#include "trace/read/datatype.h"

#include <string.h>

#include "trace/base/budget.h"
#include "trace/model/value.h"

#define UNKNOWN UINT64_MAX

struct datatypes {
	const struct trace *trace;
	uint64_t *sizes; /* by number */
	size_t count;
};

static const struct {
	const char *name;
	unsigned size;
} predefined[] = {
	{"MPI_CHAR", 1},
	{"MPI_SIGNED_CHAR", 1},
	{"MPI_UNSIGNED_CHAR", 1},
	{"MPI_BYTE", 1},
	{"MPI_PACKED", 1},
	{"MPI_SHORT", 2},
	{"MPI_UNSIGNED_SHORT", 2},
	{"MPI_INT", 4},
	{"MPI_UNSIGNED", 4},
	{"MPI_LONG", 8},
	{"MPI_UNSIGNED_LONG", 8},
	{"MPI_LONG_LONG_INT", 8},
	{"MPI_LONG_LONG", 8},
	{"MPI_UNSIGNED_LONG_LONG", 8},
	{"MPI_FLOAT", 4},
	{"MPI_DOUBLE", 8},
	{"MPI_LONG_DOUBLE", 16},
	{"MPI_WCHAR", 4},
	{"MPI_C_BOOL", 1},
	{"MPI_INT8_T", 1},
	{"MPI_INT16_T", 2},
	{"MPI_INT32_T", 4},
	{"MPI_INT64_T", 8},
	{"MPI_UINT8_T", 1},
	{"MPI_UINT16_T", 2},
	{"MPI_UINT32_T", 4},
	{"MPI_UINT64_T", 8},
	{"MPI_AINT", 8},
	{"MPI_OFFSET", 8},
	{"MPI_COUNT", 8},
	{"MPI_C_COMPLEX", 8},
	{"MPI_C_FLOAT_COMPLEX", 8},
	{"MPI_C_DOUBLE_COMPLEX", 16},
	{"MPI_C_LONG_DOUBLE_COMPLEX", 32},
	{"MPI_CXX_BOOL", 1},
	{"MPI_CXX_FLOAT_COMPLEX", 8},
	{"MPI_CXX_DOUBLE_COMPLEX", 16},
	{"MPI_CXX_LONG_DOUBLE_COMPLEX", 32},
	{"MPI_FLOAT_INT", 8},
	{"MPI_DOUBLE_INT", 12},
	{"MPI_LONG_INT", 12},
	{"MPI_2INT", 8},
	{"MPI_SHORT_INT", 6},
	{"MPI_LONG_DOUBLE_INT", 20},
	{"MPI_INTEGER", 4},
	{"MPI_REAL", 4},
	{"MPI_DOUBLE_PRECISION", 8},
	{"MPI_COMPLEX", 8},
	{"MPI_DOUBLE_COMPLEX", 16},
	{"MPI_LOGICAL", 4},
	{"MPI_CHARACTER", 1},
	{"MPI_INTEGER1", 1},
	{"MPI_INTEGER2", 2},
	{"MPI_INTEGER4", 4},
	{"MPI_INTEGER8", 8},
	{"MPI_REAL4", 4},
	{"MPI_REAL8", 8},
	{"MPI_REAL16", 16},
	{"MPI_COMPLEX8", 8},
	{"MPI_COMPLEX16", 16},
	{"MPI_COMPLEX32", 32},
	{"MPI_2REAL", 8},
	{"MPI_2DOUBLE_PRECISION", 16},
	{"MPI_2INTEGER", 8},
	{"MPI_LOGICAL1", 1},
	{"MPI_LOGICAL2", 2},
	{"MPI_LOGICAL4", 4},
	{"MPI_LOGICAL8", 8},
	{"MPI_LB", 0},
	{"MPI_UB", 0},
};

struct datatypes *datatypes_create(const struct trace *t)
{
	struct datatypes *d = budget_calloc(1, sizeof *d);
	if (d)
		d->trace = t;
	return d;
}

void datatypes_destroy(struct datatypes *d)
{
	if (d)
		budget_free(d->sizes);
	budget_free(d);
}

bool datatypes_size(const struct datatypes *d, int64_t datatype, uint64_t *size)
{
	if (!value_is_constant(datatype)) {
		if (datatype < 0 || (uint64_t)datatype >= d->count || d->sizes[datatype] == UNKNOWN)
			return false;
		*size = d->sizes[datatype];
		return true;
	}
	return datatype_predefined(
		(const char *)d->trace->strings.items[(uint64_t)datatype - (uint64_t)VALUE_CONSTANT].bytes, size);
}

bool datatype_predefined(const char *name, uint64_t *size)
{
	for (size_t i = 0; i < sizeof predefined / sizeof *predefined; i++)
		if (strcmp(predefined[i].name, name) == 0) {
			*size = predefined[i].size;
			return true;
		}
	return false;
}

/* The column with this name, or -1. */
static int column(const struct schema *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->column[i].length == strlen(name) && memcmp(s->column[i].name, name, s->column[i].length) == 0)
			return (int)i;
	return -1;
}

/* An integer parameter, 0 if there is none. */
static uint64_t integer(const struct event *e, const char *name)
{
	int i = column(e->schema, name);
	return i >= 0 && !e->schema->column[i].vector && !value_is_constant(e->values[i]) ? (uint64_t)e->values[i] : 0;
}

/* What a new datatype is made of. */
struct making {
	const struct trace *trace;
	bool (*size_of)(void *context, int64_t datatype, uint64_t *size);
	void *context;
};

/* An array parameter; *n is 0 if there is none. */
static const struct pool_item *array(const struct making *d, const struct event *e, const char *name, size_t *n)
{
	int i = column(e->schema, name);
	*n = 0;
	if (i < 0 || !e->schema->column[i].vector || value_is_constant(e->values[i]) || e->values[i] == VALUE_LOSSY)
		return NULL;
	const struct pool_item *item = event_vector(d->trace, e, e->values[i]);
	*n = item->size / sizeof(int64_t);
	return item;
}

static int64_t element(const struct pool_item *item, size_t i)
{
	int64_t v;
	memcpy(&v, item->bytes + i * sizeof v, sizeof v);
	return v;
}

/* How many elements of the old type a constructor takes. */
static uint64_t elements(const struct making *d, const struct event *e)
{
	size_t n;
	const struct pool_item *lengths = array(d, e, "array_of_blocklengths", &n);
	uint64_t sum = 0;
	if (lengths) {
		for (size_t i = 0; i < n; i++)
			sum += (uint64_t)element(lengths, i);
		return sum;
	}
	const struct pool_item *sizes = array(d, e, "array_of_subsizes", &n);
	if (sizes) {
		for (size_t i = 0, product = 1; i < n; i++)
			sum = product *= (uint64_t)element(sizes, i);
		return sum;
	}
	if (column(e->schema, "count") < 0)
		return 1; /* dup, resized */
	return integer(e, "count") * (column(e->schema, "blocklength") >= 0 ? integer(e, "blocklength") : 1);
}

static uint64_t size_made(const struct making *d, const struct event *e)
{
	uint64_t size;
	for (size_t i = 0; i < e->schema->count; i++)
		if (e->values[i] == VALUE_LOSSY)
			return UNKNOWN;
	int old = column(e->schema, "oldtype");
	if (old >= 0) {
		if (column(e->schema, "array_of_gsizes") >= 0)
			return UNKNOWN; /* darray: depends on the process grid */
		return d->size_of(d->context, e->values[old], &size) ? elements(d, e) * size : UNKNOWN;
	}
	size_t n, k;
	const struct pool_item *types = array(d, e, "array_of_types", &n),
			       *lengths = array(d, e, "array_of_blocklengths", &k);
	if (!types || !lengths || n != k)
		return UNKNOWN;
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++) {
		if (!d->size_of(d->context, element(types, i), &size))
			return UNKNOWN;
		sum += size * (uint64_t)element(lengths, i);
	}
	return sum;
}

static int newtype(const struct schema *s)
{
	int made = column(s, "newtype");
	return made >= 0 && s->column[made].kind == 't' && !s->column[made].vector ? made : -1;
}

bool datatype_makes(const struct schema *s)
{
	return newtype(s) >= 0;
}

bool datatype_made(const struct trace *t, const struct event *e,
                   bool (*size_of)(void *context, int64_t datatype, uint64_t *size), void *context, uint32_t *number,
                   uint64_t *size)
{
	int made = newtype(e->schema);
	if (made < 0 || e->values[made] < 0 || e->values[made] > INT32_MAX)
		return false;
	*number = (uint32_t)e->values[made];
	*size = size_made(&(struct making){t, size_of, context}, e);
	return true;
}

static bool size_here(void *context, int64_t datatype, uint64_t *size)
{
	return datatypes_size(context, datatype, size);
}

void datatypes_event(struct datatypes *d, const struct event *e)
{
	uint32_t number;
	uint64_t size;
	if (!datatype_made(d->trace, e, size_here, d, &number, &size))
		return;
	if (number >= d->count) {
		size_t count = (size_t)number + 16;
		uint64_t *sizes = budget_realloc(d->sizes, count * sizeof *sizes);
		if (!sizes)
			return; /* sizes stay unknown */
		for (size_t i = d->count; i < count; i++)
			sizes[i] = UNKNOWN;
		d->sizes = sizes;
		d->count = count;
	}
	d->sizes[number] = size;
}
