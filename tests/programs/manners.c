/* SPDX-License-Identifier: BSD-3-Clause
 * manners - errors as MPI 4 defines them, infos, and MPI's interfaces for tools (tests/cases.t)
 */
/* clang-format off */
#define CASES(X) \
	X(strings, MPI_Info_get_string) \
	X(surroundings, MPI_Info_create_env) \
	X(hints, MPI_Comm_set_info) \
	X(on_self, MPI_Comm_create_errhandler) \
	X(returned, MPI_Comm_set_errhandler) \
	X(fatal, MPI_Comm_set_errhandler) \
	X(abort_one, MPI_ERRORS_ABORT) \
	X(classes, MPI_Add_error_class) \
	X(forgotten, MPI_Remove_error_class) \
	X(tools, MPI_T_init_thread) \
	X(tools_around, MPI_T_init_thread) \
	X(events, MPI_T_event_get_num) \
	X(sources, MPI_T_source_get_num) \
	X(layers, QMPI) \
	X(buffered, MPI_Comm_attach_buffer)
/* clang-format on */
#define _GNU_SOURCE
#include "tests/programs/cases.h"

#include <dlfcn.h>
#include <unistd.h>

#if HAS_MPI_Info_get_string
void strings(void)
{
	MPI_Info info;
	char value[16];
	int flag = -1;

	begin();
	MPI_Info_create(&info);
	MPI_Info_set(info, "key", "a value");
	for (int room = 0; room <= 12; room += 4) {
		int length = room;
		memset(value, 0, sizeof value);
		MPI_Info_get_string(info, "key", &length, value, &flag);
		if (rank == 0)
			printf("%d: %d %d '%s'\n", room, flag, length, value);
	}
	int length = sizeof value;
	MPI_Info_get_string(info, "no key", &length, value, &flag);
	check(!flag, "a key that is not there");
	MPI_Info_free(&info);
	end();
}
#endif

#if HAS_MPI_Info_create_env
/* What it says is of the command line, or of the launcher: only that it can be asked is told. */
void surroundings(void)
{
	MPI_Info info;
	char *arguments[] = {"program", "argument", NULL};
	int n = -1;

	MPI_Info_create_env(2, arguments, &info);
	MPI_Info_get_nkeys(info, &n);
	check(n >= 0, "the number of keys");
	MPI_Info_free(&info);
	begin();
	MPI_Info_get_nkeys(MPI_INFO_ENV, &n);
	check(n >= 0, "the number of keys of MPI_INFO_ENV");
	end();
}
#endif

void hints(void)
{
	MPI_Comm copy;
	MPI_Info info, used;
	char value[8] = "";
	int flag = 0;

	begin();
	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
	MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy);
	MPI_Comm_set_info(copy, info);
	MPI_Comm_get_info(copy, &used);
	MPI_Info_get(used, "mpi_assert_no_any_tag", 7, value, &flag);
	if (rank == 0)
		printf("an assertion: %d '%s'\n", flag, flag ? value : "");
	MPI_Info_free(&used);
	MPI_Info_free(&info);
	MPI_Comm_free(&copy);
	end();
}

static int of_world, of_self;

static void count_world(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	of_world++;
}

static void count_self(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	of_self++;
}

/* Errors that belong to no object are MPI_COMM_SELF's since MPI 4, MPI_COMM_WORLD's before. */
void on_self(void)
{
	MPI_Errhandler world, self;
	MPI_Datatype none = MPI_DATATYPE_NULL;
	MPI_Info info = MPI_INFO_NULL;

	begin();
	MPI_Comm_create_errhandler(count_world, &world);
	MPI_Comm_create_errhandler(count_self, &self);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, world);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, self);
	MPI_Type_commit(&none);
	MPI_Type_free(&none);
	MPI_Info_free(&info);
	MPI_Send(NULL, -1, MPI_INT, right, 0, MPI_COMM_WORLD);
	printf("rank %d: %d of the world, %d of its own\n", rank, of_world, of_self);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&world);
	MPI_Errhandler_free(&self);
	end();
}

void returned(void)
{
	char text[MPI_MAX_ERROR_STRING];
	int code, class = -1, length;

	begin();
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	code = MPI_Send(&rank, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
	MPI_Error_class(code, &class);
	MPI_Error_string(code, text, &length);
	check(class == MPI_ERR_RANK && length > 0, "the class of an error");
	end();
}

void fatal(void)
{
	alarm(60); /* MPICH 4.2's mpiexec ends without the ranks that are left */
	begin();
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Send(&rank, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
	end();
}

/* The predefined handlers are no functions: the library that has sessions has it, too. */
#if HAS_MPI_Session_init
void abort_one(void)
{
	MPI_Comm copy;

	alarm(60); /* as above */
	begin();
	MPI_Comm_dup(MPI_COMM_SELF, &copy);
	MPI_Comm_set_errhandler(copy, MPI_ERRORS_ABORT);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Send(&rank, 1, MPI_INT, 5, 0, copy);
	MPI_Comm_free(&copy);
	end();
}
#endif

void classes(void)
{
	int class = -1, code = -1, length, got = -1;
	char text[MPI_MAX_ERROR_STRING] = "";

	begin();
	MPI_Add_error_class(&class);
	MPI_Add_error_code(class, &code);
	MPI_Add_error_string(code, "an error of ours");
	MPI_Error_class(code, &got);
	MPI_Error_string(code, text, &length);
	check(got == class && strstr(text, "of ours"), "an error class");
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	check(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code) == MPI_SUCCESS, "MPI_Comm_call_errhandler");
	end();
}

#if HAS_MPI_Remove_error_class
void forgotten(void)
{
	int class = -1, code = -1;

	begin();
	MPI_Add_error_class(&class);
	MPI_Add_error_code(class, &code);
	MPI_Add_error_string(code, "an error of ours");
	MPI_Remove_error_string(code);
	MPI_Remove_error_code(code);
	MPI_Remove_error_class(class);
	end();
}
#endif

#if HAS_MPI_T_init_thread
static void count_variables(const char *when)
{
	int controls = -1, counters = -1, categories = -1;

	MPI_T_cvar_get_num(&controls);
	MPI_T_pvar_get_num(&counters);
	MPI_T_category_get_num(&categories);
	if (rank == 0)
		printf("%s: %d variables, %d counters, %d categories\n", when, controls, counters, categories);
}

void tools(void)
{
	int provided;

	begin();
	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	count_variables("within");
	MPI_T_finalize();
	end();
}

void tools_around(void)
{
	int provided;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	begin();
	count_variables("beside");
	end();
	count_variables("behind");
	MPI_T_finalize();
}
#endif

#if HAS_MPI_T_event_get_num
void events(void)
{
	int provided, n = -1;

	begin();
	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_T_event_get_num(&n);
	if (rank == 0)
		printf("%d events\n", n);
	MPI_T_finalize();
	end();
}
#endif

#if HAS_MPI_T_source_get_num
void sources(void)
{
	int provided, n = -1;

	begin();
	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_T_source_get_num(&n);
	for (int i = 0; i < n; i++) {
		char name[64] = "", text[256] = "";
		int length = sizeof name, more = sizeof text;
		MPI_T_source_order order;
		MPI_Count per_second, most;
		MPI_Info info;
		MPI_T_source_get_info(i, name, &length, text, &more, &order, &per_second, &most, &info);
		if (rank == 0)
			printf("source %d: %s\n", i, name);
	}
	MPI_T_finalize();
	end();
}
#endif

/* A program sees the same of what there is for tools. */
void layers(void)
{
	static const char *const names[] = {"QMPI_Register_tool_name",
	                                    "QMPI_Register_tool_storage",
	                                    "QMPI_Register_function",
	                                    "QMPI_Get_function",
	                                    "QMPI_Send",
	                                    "PMPI_Send",
	                                    "MPI_Send"};

	begin();
	for (size_t i = 0; i < sizeof names / sizeof *names && rank == 0; i++)
		printf("%s is %sthere\n", names[i], dlsym(RTLD_DEFAULT, names[i]) ? "" : "not ");
	MPI_Barrier(MPI_COMM_WORLD);
	end();
}

#if HAS_MPI_Comm_attach_buffer
void buffered(void)
{
	static char room[4096];
	void *back;
	int n = 0, got = -1;

	begin();
	MPI_Comm_attach_buffer(MPI_COMM_WORLD, room, sizeof room);
	MPI_Bsend(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
	MPI_Recv(&got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Comm_detach_buffer(MPI_COMM_WORLD, &back, &n);
	check(got == left && back == room, "a communicator's buffer");
	end();
}
#endif
