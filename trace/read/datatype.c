/* SPDX-License-Identifier: BSD-3-Clause
 * datatype - sizes in bytes of datatypes, from the calls that made them
 */
#include "trace/read/datatype.h"

#include <string.h>

#include "trace/model/value.h"

#define UNKNOWN UINT64_MAX

/* An integer parameter, 0 if there is none. */
static uint64_t integer(const struct event *e, const char *name)
{
	int i = schema_column(e->schema, name);
	return i >= 0 && !e->schema->column[i].vector && !value_is_constant(e->values[i]) ? (uint64_t)e->values[i] : 0;
}

/* What a new datatype is made of. */
struct datatype_making {
	const struct trace *trace;
	bool (*size_of)(void *context, int64_t datatype, uint64_t *size);
	void *context;
};

/* An array parameter; *n is 0 if there is none. */
static const struct pool_item *array(const struct datatype_making *d, const struct event *e, const char *name,
                                     size_t *n)
{
	int i = schema_column(e->schema, name);
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
static uint64_t elements(const struct datatype_making *d, const struct event *e)
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
	if (schema_column(e->schema, "count") < 0)
		return 1; /* dup, resized */
	return integer(e, "count") * (schema_column(e->schema, "blocklength") >= 0 ? integer(e, "blocklength") : 1);
}

static uint64_t size_made(const struct datatype_making *d, const struct event *e)
{
	uint64_t size;
	for (size_t i = 0; i < e->schema->count; i++)
		if (e->values[i] == VALUE_LOSSY)
			return UNKNOWN;
	int old = schema_column(e->schema, "oldtype");
	if (old >= 0) {
		if (schema_column(e->schema, "array_of_gsizes") >= 0)
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

/* The column of the datatype that a function makes, of a size that its parameters say; -1. */
static int newtype(const struct schema *s)
{
	int made = s->at[PARAMETER_CREATED];
	return s->mpi->class == MPI_CLASS_DATATYPE && made >= 0 && s->column[made].kind == 't' ? made : -1;
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
	*size = size_made(&(struct datatype_making){t, size_of, context}, e);
	return true;
}
