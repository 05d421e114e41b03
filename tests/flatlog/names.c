/* SPDX-License-Identifier: BSD-3-Clause
 * names - how values are said: constants by name, handles by symbol, strings in quotes (doc/events.md, section
 * "Values")
 */
#include "tests/flatlog/flatlog.h"

#include <dlfcn.h>
#include <stdint.h>

/* ---- texts ---- */

static char *checked(char *s)
{
	if (!s)
		abort();
	return s;
}

char *say_name(const char *name)
{
	return checked(strdup(name));
}

char *say_int(long long v)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", v);
	return say_name(text);
}

char *say_append(char *text, int comma, char *more)
{
	size_t n = strlen(text), m = strlen(more);

	text = checked(realloc(text, n + m + 2));
	if (comma)
		text[n++] = ',';
	memcpy(text + n, more, m + 1);
	free(more);
	return text;
}

char *say_string(const char *s, size_t n)
{
	char *text = checked(malloc(4 * n + 3)), *p = text;

	*p++ = '"';
	for (size_t i = 0; i < n; i++) {
		unsigned char c = s[i];

		if (c == '"' || c == '\\')
			p += sprintf(p, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			p += sprintf(p, "\\x%02x", c);
		else
			*p++ = c;
	}
	*p++ = '"';
	*p = 0;
	return text;
}

size_t fortran_length(const char *s, size_t n)
{
	while (n && s[n - 1] == ' ')
		n--;
	return n;
}

/* ---- named integers ---- */

struct named {
	const char *name;
	long long value;
};
#define NAMED(x)      \
	{             \
#x, x \
	}

static char *say_named(long long v, const struct named *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (names[i].value == v)
			return say_name(names[i].name);
	return say_int(v);
}
#define SAY_NAMED(v, ...)                                                 \
	({                                                                \
		static const struct named names_[] = {__VA_ARGS__};       \
		say_named((v), names_, sizeof(names_) / sizeof(*names_)); \
	})

/* Names of the bits that are set, in ascending order; what has no name stays a number. */
static char *say_bits(int v, const struct named *names, size_t n)
{
	char *text = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!(v & names[i].value))
			continue;
		v &= ~names[i].value;
		text = text ? say_append(say_append(text, 0, say_name("|")), 0, say_name(names[i].name))
		            : say_name(names[i].name);
	}
	if (!text)
		return say_int(v);
	return v ? say_append(say_append(text, 0, say_name("|")), 0, say_int(v)) : text;
}
#define SAY_BITS(v, ...)                                                 \
	({                                                               \
		static const struct named names_[] = {__VA_ARGS__};      \
		say_bits((v), names_, sizeof(names_) / sizeof(*names_)); \
	})

char *say_count(long long v)
{
	return SAY_NAMED(v, NAMED(MPI_UNDEFINED));
}
char *say_peer(int v)
{
	return SAY_NAMED(v, NAMED(MPI_ANY_SOURCE), NAMED(MPI_PROC_NULL), NAMED(MPI_ROOT), NAMED(MPI_UNDEFINED));
}
char *say_tag(int v)
{
	return SAY_NAMED(v, NAMED(MPI_ANY_TAG));
}
char *say_flag(int v)
{
	return say_int(v != 0);
}
char *say_thread(int v)
{
	return SAY_NAMED(v, NAMED(MPI_THREAD_SINGLE), NAMED(MPI_THREAD_FUNNELED), NAMED(MPI_THREAD_SERIALIZED),
	                 NAMED(MPI_THREAD_MULTIPLE));
}
char *say_relation(int v)
{
	return SAY_NAMED(v, NAMED(MPI_IDENT), NAMED(MPI_CONGRUENT), NAMED(MPI_SIMILAR), NAMED(MPI_UNEQUAL));
}
char *say_split(int v)
{
	return SAY_NAMED(v,
#ifdef MPI_COMM_TYPE_HW_GUIDED
	                 NAMED(MPI_COMM_TYPE_HW_GUIDED), NAMED(MPI_COMM_TYPE_HW_UNGUIDED),
#endif
	                 NAMED(MPI_COMM_TYPE_SHARED), NAMED(MPI_UNDEFINED));
}
char *say_lock(int v)
{
	return SAY_NAMED(v, NAMED(MPI_LOCK_EXCLUSIVE), NAMED(MPI_LOCK_SHARED));
}
char *say_order(int v)
{
	return SAY_NAMED(v, NAMED(MPI_ORDER_C), NAMED(MPI_ORDER_FORTRAN));
}
char *say_combiner(int v)
{
	return SAY_NAMED(v, NAMED(MPI_COMBINER_NAMED), NAMED(MPI_COMBINER_DUP), NAMED(MPI_COMBINER_CONTIGUOUS),
	                 NAMED(MPI_COMBINER_VECTOR), NAMED(MPI_COMBINER_HVECTOR), NAMED(MPI_COMBINER_INDEXED),
	                 NAMED(MPI_COMBINER_HINDEXED), NAMED(MPI_COMBINER_INDEXED_BLOCK), NAMED(MPI_COMBINER_STRUCT),
	                 NAMED(MPI_COMBINER_SUBARRAY), NAMED(MPI_COMBINER_DARRAY), NAMED(MPI_COMBINER_F90_REAL),
	                 NAMED(MPI_COMBINER_F90_COMPLEX), NAMED(MPI_COMBINER_F90_INTEGER), NAMED(MPI_COMBINER_RESIZED),
	                 NAMED(MPI_COMBINER_HINDEXED_BLOCK));
}
char *say_typeclass(int v)
{
	return SAY_NAMED(v, NAMED(MPI_TYPECLASS_INTEGER), NAMED(MPI_TYPECLASS_REAL), NAMED(MPI_TYPECLASS_COMPLEX));
}
char *say_distribute(int v)
{
	return SAY_NAMED(v, NAMED(MPI_DISTRIBUTE_BLOCK), NAMED(MPI_DISTRIBUTE_CYCLIC), NAMED(MPI_DISTRIBUTE_NONE));
}
char *say_darg(int v)
{
	return SAY_NAMED(v, NAMED(MPI_DISTRIBUTE_DFLT_DARG));
}
char *say_seek(int v)
{
	return SAY_NAMED(v, NAMED(MPI_SEEK_SET), NAMED(MPI_SEEK_CUR), NAMED(MPI_SEEK_END));
}
char *say_topology(int v)
{
	return SAY_NAMED(v, NAMED(MPI_CART), NAMED(MPI_GRAPH), NAMED(MPI_DIST_GRAPH), NAMED(MPI_UNDEFINED));
}
char *say_rma_assert(int v)
{
	return SAY_BITS(v, NAMED(MPI_MODE_NOCHECK), NAMED(MPI_MODE_NOPRECEDE), NAMED(MPI_MODE_NOPUT),
	                NAMED(MPI_MODE_NOSTORE), NAMED(MPI_MODE_NOSUCCEED));
}
char *say_amode(int v)
{
	return SAY_BITS(v, NAMED(MPI_MODE_CREATE), NAMED(MPI_MODE_RDONLY), NAMED(MPI_MODE_WRONLY), NAMED(MPI_MODE_RDWR),
	                NAMED(MPI_MODE_DELETE_ON_CLOSE), NAMED(MPI_MODE_UNIQUE_OPEN), NAMED(MPI_MODE_EXCL),
	                NAMED(MPI_MODE_APPEND), NAMED(MPI_MODE_SEQUENTIAL));
}

/* A class that the application has added has no name of its own. */
char *say_error(int v)
{
#define E(x)                               \
	{                                  \
		"MPI_ERR_" #x, MPI_ERR_##x \
	}
	char *text =
		SAY_NAMED(v, E(BUFFER), E(COUNT), E(TYPE), E(TAG), E(COMM), E(RANK), E(REQUEST), E(ROOT), E(GROUP),
	                  E(OP), E(TOPOLOGY), E(DIMS), E(ARG), E(UNKNOWN), E(TRUNCATE), E(OTHER), E(INTERN),
	                  E(IN_STATUS), E(PENDING), E(ACCESS), E(AMODE), E(ASSERT), E(BAD_FILE), E(BASE), E(CONVERSION),
	                  E(DISP), E(DUP_DATAREP), E(FILE_EXISTS), E(FILE_IN_USE), E(FILE), E(INFO_KEY), E(INFO_NOKEY),
	                  E(INFO_VALUE), E(INFO), E(IO), E(KEYVAL), E(LOCKTYPE), E(NAME), E(NO_MEM), E(NOT_SAME),
	                  E(NO_SPACE), E(NO_SUCH_FILE), E(PORT), E(QUOTA), E(READ_ONLY), E(RMA_CONFLICT), E(RMA_SYNC),
	                  E(SERVICE), E(SIZE), E(SPAWN), E(UNSUPPORTED_DATAREP), E(UNSUPPORTED_OPERATION), E(WIN),
	                  E(RMA_RANGE), E(RMA_ATTACH), E(RMA_FLAVOR), E(RMA_SHARED));
#undef E
	if (text[0] == 'M')
		return text;
	free(text);
	return say_name("MPI_ERR_UNKNOWN");
}

/* ---- handles ---- */

/* The symbols of one kind: a list of the handles that live now. */
struct symbols {
	const char *letter;
	uintptr_t *handle;
	int *number;
	int *held; /* how often it was returned, for the application to free, and was not freed yet */
	/* by thread (its `me`): in a call that frees it; nobody else's then, who has the handle has a new object */
	char **freer;
	int n;
	int again; /* a number is used again when it is free */
	int next;  /* else */
};

static __thread char me;

static int lowest_free(const struct symbols *s)
{
	for (int number = 0;; number++) {
		int used = 0;

		for (int i = 0; i < s->n; i++)
			used |= s->number[i] == number;
		if (!used)
			return number;
	}
}

static char *say_symbol(struct symbols *s, uintptr_t handle)
{
	int number = -1;

	pthread_mutex_lock(&flatlog_lock);
	for (int i = 0; i < s->n && number < 0; i++)
		if (s->handle[i] == handle && (!s->freer[i] || s->freer[i] == &me))
			number = s->number[i];
	if (number < 0) {
		s->handle = (uintptr_t *)checked(realloc(s->handle, (s->n + 1) * sizeof(*s->handle)));
		s->number = (int *)checked(realloc(s->number, (s->n + 1) * sizeof(*s->number)));
		s->held = (int *)checked(realloc(s->held, (s->n + 1) * sizeof(*s->held)));
		s->freer = (char **)checked(realloc(s->freer, (s->n + 1) * sizeof(*s->freer)));
		s->handle[s->n] = handle;
		s->held[s->n] = 0;
		s->freer[s->n] = NULL;
		number = s->again ? lowest_free(s) : s->next++;
		s->number[s->n++] = number;
	}
	pthread_mutex_unlock(&flatlog_lock);
	return say_append(say_name(s->letter), 0, say_int(number));
}

/* A call has returned it, for the application to free. */
static void returned(struct symbols *s, uintptr_t handle)
{
	pthread_mutex_lock(&flatlog_lock);
	for (int i = 0; i < s->n; i++)
		if (s->handle[i] == handle && (!s->freer[i] || s->freer[i] == &me)) {
			s->held[i]++;
			break;
		}
	pthread_mutex_unlock(&flatlog_lock);
}

/* A call that frees the object begins. What is held more than once stays. */
static void freeing(struct symbols *s, uintptr_t handle)
{
	pthread_mutex_lock(&flatlog_lock);
	for (int i = 0; i < s->n; i++)
		if (s->handle[i] == handle && !s->freer[i] && s->held[i] <= 1) {
			s->freer[i] = &me;
			break;
		}
	pthread_mutex_unlock(&flatlog_lock);
}

/* It is back. done: it is freed. */
static void forget(struct symbols *s, uintptr_t handle, bool done)
{
	pthread_mutex_lock(&flatlog_lock);
	for (int i = 0; i < s->n; i++) {
		if (s->handle[i] == handle && !s->freer[i] && done && s->held[i] > 1) {
			s->held[i]--;
			break;
		}
		if (s->handle[i] != handle || s->freer[i] != &me)
			continue;
		s->freer[i] = NULL;
		if (done) {
			s->n--;
			s->handle[i] = s->handle[s->n];
			s->number[i] = s->number[s->n];
			s->held[i] = s->held[s->n];
			s->freer[i] = s->freer[s->n];
		}
		break;
	}
	pthread_mutex_unlock(&flatlog_lock);
}

struct known {
	const char *name;
	uintptr_t handle;
};
#define KNOWN(x)                   \
	{                          \
#x, (uintptr_t)(x) \
	}

/* One kind of handle: its letter and the predefined ones. */
#define HANDLE(kind, type, letter, ...)                                                                   \
	static struct symbols kind##_symbols = {letter, NULL, NULL, NULL, NULL, 0, #letter[1] != 'c', 0}; \
	char *say_##kind(type h)                                                                          \
	{                                                                                                 \
		const struct known known[] = {__VA_ARGS__};                                               \
		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)                               \
			if (known[i].handle == (uintptr_t)h)                                              \
				return say_name(known[i].name);                                           \
		return say_symbol(&kind##_symbols, (uintptr_t)h);                                         \
	}                                                                                                 \
	void returned_##kind(type h)                                                                      \
	{                                                                                                 \
		returned(&kind##_symbols, (uintptr_t)h);                                                  \
	}                                                                                                 \
	void freeing_##kind(type h)                                                                       \
	{                                                                                                 \
		freeing(&kind##_symbols, (uintptr_t)h);                                                   \
	}                                                                                                 \
	void forget_##kind(type h, bool done)                                                             \
	{                                                                                                 \
		forget(&kind##_symbols, (uintptr_t)h, done);                                              \
	}

#ifdef MPI_ERRORS_ABORT
#define KNOWN_ERRORS_ABORT , KNOWN(MPI_ERRORS_ABORT)
#else
#define KNOWN_ERRORS_ABORT
#endif
HANDLE(comm, MPI_Comm, "c", KNOWN(MPI_COMM_WORLD), KNOWN(MPI_COMM_SELF), KNOWN(MPI_COMM_NULL))
HANDLE(group, MPI_Group, "g", KNOWN(MPI_GROUP_NULL), KNOWN(MPI_GROUP_EMPTY))
HANDLE(op, MPI_Op, "o", KNOWN(MPI_OP_NULL), KNOWN(MPI_MAX), KNOWN(MPI_MIN), KNOWN(MPI_SUM), KNOWN(MPI_PROD),
       KNOWN(MPI_LAND), KNOWN(MPI_BAND), KNOWN(MPI_LOR), KNOWN(MPI_BOR), KNOWN(MPI_LXOR), KNOWN(MPI_BXOR),
       KNOWN(MPI_MAXLOC), KNOWN(MPI_MINLOC), KNOWN(MPI_REPLACE), KNOWN(MPI_NO_OP))
HANDLE(win, MPI_Win, "w", KNOWN(MPI_WIN_NULL))
HANDLE(file, MPI_File, "f", KNOWN(MPI_FILE_NULL))
HANDLE(info, MPI_Info, "n", KNOWN(MPI_INFO_NULL), KNOWN(MPI_INFO_ENV))
HANDLE(errhandler, MPI_Errhandler, "e", KNOWN(MPI_ERRHANDLER_NULL), KNOWN(MPI_ERRORS_ARE_FATAL),
       KNOWN(MPI_ERRORS_RETURN) KNOWN_ERRORS_ABORT)
HANDLE(message, MPI_Message, "m", KNOWN(MPI_MESSAGE_NULL), KNOWN(MPI_MESSAGE_NO_PROC))
#if HAS_SESSIONS
HANDLE(session, MPI_Session, "q", KNOWN(MPI_SESSION_NULL))
#endif
/* mpif.h and the Fortran modules of MPICH have other numbers than mpi.h: 1681915906 for 0x64400001, and so on. */
#ifdef MPICH_VERSION
#define KEYVAL(x)                      \
	{#x, (uintptr_t)(x)},          \
	{                              \
#x, (uintptr_t)(x) + 1 \
	} /* KNOWN would have the number for a name */
#else
#define KEYVAL(x) KNOWN(x)
#endif
HANDLE(keyval, int, "k", KNOWN(MPI_KEYVAL_INVALID), KEYVAL(MPI_TAG_UB), KEYVAL(MPI_HOST), KEYVAL(MPI_IO),
       KEYVAL(MPI_WTIME_IS_GLOBAL), KEYVAL(MPI_APPNUM), KEYVAL(MPI_LASTUSEDCODE), KEYVAL(MPI_UNIVERSE_SIZE),
       KEYVAL(MPI_WIN_BASE), KEYVAL(MPI_WIN_SIZE), KEYVAL(MPI_WIN_DISP_UNIT), KEYVAL(MPI_WIN_CREATE_FLAVOR),
       KEYVAL(MPI_WIN_MODEL))
#ifdef OPEN_MPI
#define KNOWN_OPEN_MPI                                                                             \
	KNOWN(MPI_2COMPLEX), KNOWN(MPI_2DOUBLE_COMPLEX), KNOWN(MPI_LOGICAL1), KNOWN(MPI_LOGICAL2), \
		KNOWN(MPI_LOGICAL4), KNOWN(MPI_LOGICAL8),
#else
#define KNOWN_OPEN_MPI
#endif
/* Of two names of one type the standard's first one. */
HANDLE(type, MPI_Datatype, "t", KNOWN(MPI_DATATYPE_NULL), KNOWN(MPI_CHAR), KNOWN(MPI_SHORT), KNOWN(MPI_INT),
       KNOWN(MPI_LONG), KNOWN(MPI_LONG_LONG_INT), KNOWN(MPI_SIGNED_CHAR), KNOWN(MPI_UNSIGNED_CHAR),
       KNOWN(MPI_UNSIGNED_SHORT), KNOWN(MPI_UNSIGNED), KNOWN(MPI_UNSIGNED_LONG), KNOWN(MPI_UNSIGNED_LONG_LONG),
       KNOWN(MPI_FLOAT), KNOWN(MPI_DOUBLE), KNOWN(MPI_LONG_DOUBLE), KNOWN(MPI_WCHAR), KNOWN(MPI_C_BOOL),
       KNOWN(MPI_INT8_T), KNOWN(MPI_INT16_T), KNOWN(MPI_INT32_T), KNOWN(MPI_INT64_T), KNOWN(MPI_UINT8_T),
       KNOWN(MPI_UINT16_T), KNOWN(MPI_UINT32_T), KNOWN(MPI_UINT64_T), KNOWN(MPI_C_COMPLEX), KNOWN(MPI_C_FLOAT_COMPLEX),
       KNOWN(MPI_C_DOUBLE_COMPLEX), KNOWN(MPI_C_LONG_DOUBLE_COMPLEX), KNOWN(MPI_BYTE), KNOWN(MPI_PACKED),
       KNOWN(MPI_AINT), KNOWN(MPI_OFFSET), KNOWN(MPI_COUNT), KNOWN(MPI_CXX_BOOL), KNOWN(MPI_CXX_FLOAT_COMPLEX),
       KNOWN(MPI_CXX_DOUBLE_COMPLEX), KNOWN(MPI_CXX_LONG_DOUBLE_COMPLEX), KNOWN(MPI_FLOAT_INT), KNOWN(MPI_DOUBLE_INT),
       KNOWN(MPI_LONG_INT), KNOWN(MPI_2INT), KNOWN(MPI_SHORT_INT), KNOWN(MPI_LONG_DOUBLE_INT), KNOWN(MPI_INTEGER),
       KNOWN(MPI_REAL), KNOWN(MPI_DOUBLE_PRECISION), KNOWN(MPI_COMPLEX), KNOWN(MPI_LOGICAL), KNOWN(MPI_CHARACTER),
       KNOWN(MPI_DOUBLE_COMPLEX), KNOWN(MPI_2REAL), KNOWN(MPI_2DOUBLE_PRECISION), KNOWN(MPI_2INTEGER),
       KNOWN_OPEN_MPI KNOWN(MPI_INTEGER1), KNOWN(MPI_INTEGER2), KNOWN(MPI_INTEGER4), KNOWN(MPI_INTEGER8),
       KNOWN(MPI_REAL4), KNOWN(MPI_REAL8), KNOWN(MPI_REAL16), KNOWN(MPI_COMPLEX8), KNOWN(MPI_COMPLEX16),
       KNOWN(MPI_COMPLEX32))

/* ---- sentinels ---- */

/* Fortran's sentinels are variables. Open MPI: common blocks, of which the one that the program uses is the first of
 * that name. MPICH: where they are in mpif.h is in pointers of its library; those of mpi_f08 are variables. */
static bool is_fortran(const char *open_mpi, const char *pointer, const char *f08, const void *p)
{
	const void *const *mpich = dlsym(RTLD_DEFAULT, pointer);

	return p && (p == dlsym(RTLD_DEFAULT, open_mpi) || (mpich && p == *mpich) || p == dlsym(RTLD_DEFAULT, f08));
}

bool in_place(const void *buffer)
{
	return buffer == MPI_IN_PLACE ||
	       is_fortran("mpi_fortran_in_place_", "MPIR_F_MPI_IN_PLACE", "MPIR_F08_MPI_IN_PLACE", buffer);
}

bool bottom(const void *buffer)
{
	return buffer == MPI_BOTTOM ||
	       is_fortran("mpi_fortran_bottom_", "MPIR_F_MPI_BOTTOM", "MPIR_F08_MPI_BOTTOM", buffer);
}

static bool weights_empty(const void *weights)
{
	return weights == (const void *)MPI_WEIGHTS_EMPTY ||
	       is_fortran("mpi_fortran_weights_empty_", "MPIR_F_MPI_WEIGHTS_EMPTY",
	                  "__mpi_f08_link_constants_MOD_mpi_weights_empty", weights);
}

bool unweighted(const void *weights)
{
	return weights == (const void *)MPI_UNWEIGHTED ||
	       is_fortran("mpi_fortran_unweighted_", "MPIR_F_MPI_UNWEIGHTED",
	                  "__mpi_f08_link_constants_MOD_mpi_unweighted", weights) ||
	       weights_empty(weights);
}

char *say_weights(const void *weights)
{
	return say_name(weights_empty(weights) ? "MPI_WEIGHTS_EMPTY" : "MPI_UNWEIGHTED");
}

bool ignored(const void *status)
{
	return status == MPI_STATUS_IGNORE ||
	       is_fortran("mpi_fortran_status_ignore_", "MPI_F_STATUS_IGNORE", "MPIR_F08_MPI_STATUS_IGNORE_OBJ",
	                  status) ||
	       is_fortran("mpi_fortran_statuses_ignore_", "MPI_F_STATUSES_IGNORE", "MPIR_F08_MPI_STATUSES_IGNORE_OBJ",
	                  status);
}
