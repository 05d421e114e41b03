/* SPDX-License-Identifier: BSD-3-Clause
 * attribute - which communicators have attributes that would be copied with them?
 *
 * What is kept is one entry for each number that a keyval had; libraries use the numbers of freed ones again. An
 * attribute whose keyval was freed is still there, and found by its number until a new keyval has that.
 */
#include "preload/attribute.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/lock.h"

static struct keyval {
	int number;
	const void *copy;
} * keyvals;
static size_t count, capacity;
static bool lost; /* without memory for one, or without the lock */
static struct lock lock;

static bool add_keyval(int number, const void *copy)
{
	if (count == capacity) {
		size_t more = capacity ? 2 * capacity : 8;
		struct keyval *bigger = realloc(keyvals, more * sizeof(*bigger));

		if (!bigger)
			return false;
		keyvals = bigger;
		capacity = more;
	}
	keyvals[count++] = (struct keyval){number, copy};
	return true;
}

void attribute_keyval(int keyval, const void *copy)
{
	int saved = errno;
	size_t i = 0;

	if (!copy) /* what MPICH has for MPI_COMM_NULL_COPY_FN */
		return;
	if (!lock_take(&lock)) {
		lost = true;
		return;
	}
	while (i < count && (keyvals[i].number != keyval || keyvals[i].copy != copy))
		i++;
	if (i == count && !add_keyval(keyval, copy))
		lost = true;
	lock_give(&lock);
	errno = saved;
}

/* Is it the library's function that copies nothing, of C or Fortran? Its name says so; in a program that is linked at a
 * fixed address, its address may be one in the program. */
static bool copies_nothing(const void *copy)
{
	static const char *const names[] = {"mpi_comm_null_copy_fn_", "mpi_null_copy_fn_",
	                                    "__mpi_f08_callbacks_MOD_mpi_comm_null_copy_fn", ABI_NULL_COPY};
	Dl_info info;

	if (dladdr(copy, &info) && info.dli_saddr == copy && strcasestr(info.dli_sname, "mpi") &&
	    strcasestr(info.dli_sname, "null_copy_fn"))
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (dlsym(RTLD_DEFAULT, names[i]) == copy)
			return true;
	return false;
}

bool attribute_is_copied(MPI_Comm comm)
{
	bool is = lost;

	if (!lock_take(&lock))
		return true;
	for (size_t i = 0; i < count && !is; i++) {
		void *value;
		int flag = 0;

		if (!copies_nothing(keyvals[i].copy))
			is = real.MPI_Comm_get_attr(comm, keyvals[i].number, &value, &flag) == MPI_SUCCESS && flag;
	}
	lock_give(&lock);
	return is;
}
