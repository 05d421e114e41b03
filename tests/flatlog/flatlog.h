/* SPDX-License-Identifier: BSD-3-Clause
 * flatlog - the independent judge: logs each MPI call of the application as one line, the moment it returns
 *
 * A library that is preloaded IN FRONT of spoor (LD_PRELOAD=flatlog.so:libspoor-gate.so). It defines the C and Fortran
 * MPI functions, calls the next one of the same name, and writes $FLATLOG_DIR/<rank in MPI_COMM_WORLD>.log in exactly
 * the form of doc/events.md. It shares no code and no table with spoor and compresses nothing: what it says happened is
 * what happened. Clarity goes before speed: lists are searched from their start, texts are malloc'ed, each line is
 * flushed.
 *
 *     calls.table + generate.py  ->  wrappers.c   one wrapper in C and one in Fortran for each function
 *     live.c                                       live requests, and those that a call means
 *     requests.c                                   the wait, test and start functions
 *     statuses.c, shape.c                          statuses; lengths of arrays and who is the root
 *     spawn.c                                      MPI_Comm_spawn
 *     life.c                                       init, finalize, abort
 *     counts.c                                     calls of each function, instead of lines
 *     names.c                                      how values are said: constants, handles, strings
 *     flatlog.c                                    lines and the file
 *
 * Environment: FLATLOG_DIR (unset: nothing is logged); FLATLOG_BUFFERS: with buffers (doc/events.md, rule 2);
 * FLATLOG_COUNTS=DIR: only counts, in DIR/RANK.counts, a function a line, and the program's calls are left as they are;
 * FLATLOG_WORLDS: each world has a folder in it; FLATLOG_IGNORED=leave: where the application ignores a status, the
 * next library sees that too, and what is then not known is logged as `?`. Otherwise a status is always asked for.
 *
 * Only calls that come from the application are logged: the return address is not in libmpi*, libopen-*, mca_*,
 * libspoor*.
 */
#ifndef FLATLOG_H
#define FLATLOG_H

#define _GNU_SOURCE
#define MPI_Pready_list declared_MPI_Pready_list /* some libraries declare its array as not const */
#if !__has_include(<mpi-ext.h>)                  /* MPICH declares the arrays of these two as not const */
#define MPI_Type_hindexed declared_MPI_Type_hindexed
#define MPI_Type_struct   declared_MPI_Type_struct
#endif
#include <mpi.h>
#undef MPI_Pready_list
#undef MPI_Type_hindexed
#undef MPI_Type_struct
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines (flatlog.c) ---- */

#define LINE_PARTS 20 /* the longest parameter list of MPI-3.1 has 14 */

/* One call while it happens: the parts are `name=value` texts, in the order of the parameters; NULL is not printed. */
struct line {
	const char *function;
	char **part; /* LINE_PARTS of them; not in the wrapper's frame, which is gone when a call is left */
	unsigned long long begin; /* with FLATLOG_TIMES: ns; each line ends with " @BEGIN-END" then */
};

/* False: not a call of the application, or logging has not begun or is over; say nothing more. Calls that this thread
 * has left since, by an exception or longjmp, are written first: with error=left, and "-" for every value. */
bool line_begin(struct line *l, const char *function, void *return_address);
/* Part i becomes `name=value`; takes value, which was malloc'ed. */
void line_put(struct line *l, int i, const char *name, char *value);
void line_absent(struct line *l, int i, const char *name); /* name=- */
/* A choice buffer. With FLATLOG_BUFFERS it is said always; else only MPI_IN_PLACE where that may be. */
void line_put_buffer(struct line *l, int i, const char *name, const void *buffer, bool significant, bool place);
/* The call has come back. False: with an error; then the outputs stay absent and the error's class is the last part. */
bool line_end(struct line *l, int rc);
/* Gives the line its number and writes it. */
void line_write(struct line *l);

/* After MPI_Init: opens the file of this rank and writes what was said so far. */
void flatlog_open(void);
/* The same after the first MPI_Session_init of a process that has not called MPI_Init. */
void flatlog_open_rank(int rank, bool threads);
/* The number of the calling thread: 0 unless MPI provides MPI_THREAD_MULTIPLE. Others than 0 have a log of their own,
 * RANK.THREAD.log. */
int flatlog_thread(void);
/* From now on nothing is logged. */
void flatlog_close(void);

/* The next function of that name behind this library; ends the process with a message if there is none. */
void *flatlog_next(const char *name);
/* For a call that comes from the MPI library, as those of MPICH's Fortran functions do: its profiling function, so that
 * nobody behind us takes the call for ours. NULL: there is none, or it is the application's call. */
void *flatlog_inner(const char *profiling_name, void *return_address);
#define NEXT(name, result, parameters)                                                                          \
	static result(*behind) parameters;                                                                      \
	if (!behind)                                                                                            \
		behind = (result(*) parameters)flatlog_next(#name);                                             \
	result(*next) parameters = (result(*) parameters)flatlog_inner("P" #name, __builtin_return_address(0)); \
	if (!next)                                                                                              \
	next = behind

/* A Fortran function name_ is also called name, name__, and NAME by other compilers. No compiler's upper case is known
 * to the preprocessor: generate.py says those. */
#define FORTRAN_SPELLED(name, parameters)                       \
	void name##_ parameters;                                \
	void name parameters __attribute__((alias(#name "_"))); \
	void name##__ parameters __attribute__((alias(#name "_")));
/* mpi_f08: ierror may be absent. */
#define OWN_IERROR()    \
	int own_ierror; \
	if (!ierror)    \
	ierror = &own_ierror

extern pthread_mutex_t flatlog_lock;

/* With FLATLOG_COUNTS: a call begins (counts.c). */
void counts_count(const char *function);

/* ---- values (names.c): all return a malloc'ed text ---- */

char *say_name(const char *name);
char *say_int(long long v);
char *say_count(long long v); /* or MPI_UNDEFINED */
char *say_peer(int v);
char *say_tag(int v);
char *say_flag(int v);
char *say_thread(int v);
char *say_relation(int v);
char *say_split(int v);
char *say_lock(int v);
char *say_order(int v);
char *say_combiner(int v);
char *say_typeclass(int v);
char *say_distribute(int v);
char *say_darg(int v);
char *say_seek(int v);
char *say_topology(int v);
char *say_rma_assert(int v);
char *say_amode(int v);
char *say_error(int error_class);
char *say_string(const char *s, size_t n);

char *say_comm(MPI_Comm h);
char *say_type(MPI_Datatype h);
char *say_group(MPI_Group h);
char *say_op(MPI_Op h);
char *say_win(MPI_Win h);
char *say_file(MPI_File h);
char *say_info(MPI_Info h);
char *say_errhandler(MPI_Errhandler h);
char *say_message(MPI_Message h);
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_SESSIONS 1
char *say_session(MPI_Session h);
void freeing_session(MPI_Session h);
void forget_session(MPI_Session h, bool done);
#endif
char *say_keyval(int h);

/* A call has returned it, for the application to free as often. */
void returned_type(MPI_Datatype h);
void returned_group(MPI_Group h);
void returned_errhandler(MPI_Errhandler h);

/* The object is freed, if it was not returned more often: the same bits are a new object from now on. */
void freeing_comm(MPI_Comm h);
void forget_comm(MPI_Comm h, bool done);
void freeing_type(MPI_Datatype h);
void forget_type(MPI_Datatype h, bool done);
void freeing_group(MPI_Group h);
void forget_group(MPI_Group h, bool done);
void freeing_op(MPI_Op h);
void forget_op(MPI_Op h, bool done);
void freeing_win(MPI_Win h);
void forget_win(MPI_Win h, bool done);
void freeing_file(MPI_File h);
void forget_file(MPI_File h, bool done);
void freeing_info(MPI_Info h);
void forget_info(MPI_Info h, bool done);
void freeing_errhandler(MPI_Errhandler h);
void forget_errhandler(MPI_Errhandler h, bool done);
void freeing_message(MPI_Message h);
void forget_message(MPI_Message h, bool done);
void freeing_keyval(int h);
void forget_keyval(int h, bool done);

/* [a,b,c], each element said by an expression of i_. n is clamped at 0. */
#define SAY_ARRAY(n, element)                                     \
	({                                                        \
		int n_ = (int)(n);                                \
		char *text_ = say_name("[");                      \
		for (int i_ = 0; i_ < n_; i_++)                   \
			text_ = say_append(text_, i_, (element)); \
		say_append(text_, 0, say_name("]"));              \
	})
char *say_append(char *text, int comma, char *more); /* frees both, returns the new text */

/* Length of a Fortran string without the blanks at its end. */
size_t fortran_length(const char *s, size_t n);

/* ---- sentinels: C's values and the addresses of Fortran's variables ---- */

bool in_place(const void *buffer);
bool bottom(const void *buffer);
bool unweighted(const void *weights); /* MPI_UNWEIGHTED or MPI_WEIGHTS_EMPTY */
char *say_weights(const void *weights);
bool ignored(const void *status); /* MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE */

/* ---- what the standard says about who passes what: lengths of arrays, significance. 0 for MPI_COMM_NULL ---- */

int peers(MPI_Comm comm);              /* ranks that a collective talks to: the remote group of an intercommunicator */
int members(MPI_Comm comm);            /* ranks of the local group */
bool at_root(int root, MPI_Comm comm); /* this process is the root */
bool leaf(int root, MPI_Comm comm);    /* this process gives to or gets from the root */
int indegree(MPI_Comm comm);           /* neighbours in a topology */
int outdegree(MPI_Comm comm);
bool weighted(const void *weights, MPI_Comm comm); /* are weights returned into this array? */
int cartdim(MPI_Comm comm, int at_most);
int graph_nodes(MPI_Comm comm, int at_most);
int graph_edges(MPI_Comm comm, int at_most);
int graph_degree(MPI_Comm comm, int rank, int at_most);
int contents_c(MPI_Datatype type, int which); /* integers, addresses, counts, datatypes of MPI_Type_get_envelope_c */
int contents(MPI_Datatype type, int which);   /* integers, addresses, datatypes of MPI_Type_get_envelope */
int last(const int *values, int n);
int sum(const int *values, int n);
int least(int a, int b);

/* ---- statuses (statuses.c) ---- */

struct fields {
	char *source, *tag, *count;
};
struct fields fields_all(const char *text);
/* s: what the library returned, NULL if it was not asked for. describes: RECEIVE, a message;
 * OF_FILE; 0: a send or an inactive request. */
struct fields fields_of(const MPI_Status *s, MPI_Datatype type, int describes);
/* The same of what a file call moved. */
struct fields fields_of_file(const MPI_Status *s, MPI_Datatype type);
/* Part i becomes NAME.MPI_SOURCE=.. NAME.MPI_TAG=.. NAME.count=..; takes the texts. */
void fields_put(struct line *l, int i, const char *name, struct fields f);

/* A status that describes a message; `count` is in units of type. A cancelled or (leave mode) ignored one is handled.
 * arrives: the call itself received or probed the message, which so was not cancelled.
 * */
void line_put_status(struct line *l, int i, const char *name, const MPI_Status *s, MPI_Datatype type, bool arrives);
void line_put_fstatus(struct line *l, int i, const char *name, const int *s, MPI_Datatype type, bool arrives);
/* The status of a call that reads or writes a file. */
void line_put_moved(struct line *l, int i, const char *name, const MPI_Status *s, MPI_Datatype type);
void line_put_fmoved(struct line *l, int i, const char *name, const int *s, MPI_Datatype type);
void line_absent_status(struct line *l, int i, const char *name);

bool flatlog_leave(void); /* FLATLOG_IGNORED=leave */
#define OWN_STATUS(s)                       \
	MPI_Status own_status_;             \
	if (ignored(s) && !flatlog_leave()) \
	s = &own_status_
#define OWN_FSTATUS(s)                      \
	int own_status_[MPI_F_STATUS_INTS]; \
	if (ignored(s) && !flatlog_leave()) \
	s = own_status_
#define MPI_F_STATUS_INTS ((int)(sizeof(MPI_Status) / sizeof(int))) /* Open MPI */

/* ---- requests (live.c) ---- */

enum trait { RECEIVE = 1, PERSISTENT = 2, OF_FILE = 4 };
char *say_new_request(MPI_Request h, int traits);
char *say_live_request(MPI_Request h);

#endif
