/* SPDX-License-Identifier: BSD-3-Clause
 * sessions - MPI without MPI_Init, beside it, before it and after it (tests/cases.t)
 */
/* clang-format off */
#define CASES(X) \
	X(alone, MPI_Session_init) \
	X(world, MPI_Session_init) \
	X(self, MPI_Session_init) \
	X(two, MPI_Session_init) \
	X(reversed, MPI_Session_init) \
	X(again, MPI_Session_init) \
	X(beside, MPI_Session_init) \
	X(outlives, MPI_Session_init) \
	X(first, MPI_Session_init) \
	X(after, MPI_Session_init) \
	X(threads, MPI_Session_init) \
	X(handlers, MPI_Session_create_errhandler) \
	X(half, MPI_Comm_create_from_group) \
	X(across, MPI_Intercomm_create_from_groups) \
	X(sets, MPI_Session_init) \
	X(window, MPI_Session_init) \
	X(duplicates, MPI_Session_init) \
	X(requests, MPI_Session_init) \
	X(abandoned, MPI_Session_init) \
	X(aborts, MPI_Session_init)
/* clang-format on */
#include "tests/programs/cases.h"

#if HAS_MPI_Session_init
static MPI_Session open_session(void)
{
	MPI_Session s = MPI_SESSION_NULL;

	check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s) == MPI_SUCCESS, "MPI_Session_init");
	return s;
}

/* The communicator of a process set. */
static MPI_Comm of_set(MPI_Session s, const char *set, const char *tag)
{
	MPI_Group group;
	MPI_Comm comm = MPI_COMM_NULL;

	check(MPI_Group_from_session_pset(s, set, &group) == MPI_SUCCESS, "MPI_Group_from_session_pset");
	check(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS,
	      "MPI_Comm_create_from_group");
	MPI_Group_free(&group);
	place(comm);
	return comm;
}

static void add_up(MPI_Comm comm)
{
	int sum = 0, mine = rank + 1;

	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
	check(sum == size * (size + 1) / 2, "a sum");
}

static void pass_on(MPI_Comm comm)
{
	int got = -1;

	MPI_Sendrecv(&rank, 1, MPI_INT, right, 5, &got, 1, MPI_INT, left, 5, comm, MPI_STATUS_IGNORE);
	check(got == left, "what came from the left");
}

static void use_world(MPI_Session s, const char *tag)
{
	MPI_Comm comm = of_set(s, "mpi://WORLD", tag);

	add_up(comm);
	pass_on(comm);
	MPI_Comm_free(&comm);
}

void alone(void)
{
	MPI_Session s = open_session();
	int sets = 0, initialized = -1;

	MPI_Session_get_num_psets(s, MPI_INFO_NULL, &sets);
	check(sets >= 2, "the number of process sets");
	MPI_Initialized(&initialized);
	check(initialized == 0, "MPI_Initialized");
	MPI_Session_finalize(&s);
	check(s == MPI_SESSION_NULL, "the handle of a session that is over");
}

void world(void)
{
	MPI_Session s = open_session();

	use_world(s, "world");
	MPI_Session_finalize(&s);
}

void self(void)
{
	MPI_Session s = open_session();
	MPI_Comm comm = of_set(s, "mpi://SELF", "self");

	check(size == 1, "the size of mpi://SELF");
	add_up(comm);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&s);
}

static void run_two(bool reversed)
{
	MPI_Session s[2] = {open_session(), open_session()};
	MPI_Comm comm[2] = {of_set(s[0], "mpi://WORLD", "first"), of_set(s[1], "mpi://WORLD", "second")};

	for (int i = 0; i < 4; i++)
		add_up(comm[i % 2]);
	for (int i = 0; i < 2; i++) {
		int which = reversed ? 1 - i : i;
		MPI_Comm_free(&comm[which]);
		MPI_Session_finalize(&s[which]);
		if (i == 0)
			pass_on(comm[1 - which]);
	}
}

void two(void)
{
	run_two(false);
}

void reversed(void)
{
	run_two(true);
}

void again(void)
{
	for (int i = 0; i < 3; i++)
		world();
}

void beside(void)
{
	begin();
	world();
	place(MPI_COMM_WORLD);
	add_up(MPI_COMM_WORLD);
	MPI_Finalize();
}

void outlives(void)
{
	MPI_Session s = open_session();
	MPI_Comm comm = of_set(s, "mpi://WORLD", "outlives");

	begin();
	add_up(MPI_COMM_WORLD);
	add_up(comm);
	MPI_Finalize();
	pass_on(comm);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&s);
}

void first(void)
{
	world();
	begin();
	add_up(MPI_COMM_WORLD);
	MPI_Finalize();
}

void after(void)
{
	begin();
	add_up(MPI_COMM_WORLD);
	MPI_Finalize();
	world();
}

void threads(void)
{
	MPI_Session s;
	MPI_Info info, used;
	char level[64] = "";
	int length = sizeof level, flag = 0;

	MPI_Info_create(&info);
	MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
	MPI_Session_init(info, MPI_ERRORS_RETURN, &s);
	MPI_Info_free(&info);
	MPI_Session_get_info(s, &used);
	MPI_Info_get_string(used, "thread_level", &length, level, &flag);
	MPI_Info_free(&used);
	printf("thread level: %s\n", flag ? level : "not told");
	use_world(s, "threads");
	MPI_Session_finalize(&s);
}

static int handled;

static void handler(MPI_Session *s, int *code, ...)
{
	(void)s;
	(void)code;
	handled++;
}

void handlers(void)
{
	MPI_Session s = open_session();
	MPI_Errhandler mine, now;

	MPI_Session_create_errhandler(handler, &mine);
	MPI_Session_set_errhandler(s, mine);
	MPI_Session_call_errhandler(s, MPI_ERR_OTHER);
	check(handled == 1, "the number of errors that were handled");
	MPI_Session_get_errhandler(s, &now);
	check(now == mine, "the error handler");
	MPI_Errhandler_free(&now);
	MPI_Errhandler_free(&mine);
	use_world(s, "handlers");
	MPI_Session_finalize(&s);
}

/* Ranks of one parity have a communicator, which the others know nothing of. */
void half(void)
{
	MPI_Session s = open_session();
	MPI_Group all, some;
	MPI_Comm comm;
	int of_all, many, members[64], n = 0;

	MPI_Group_from_session_pset(s, "mpi://WORLD", &all);
	MPI_Group_rank(all, &of_all);
	MPI_Group_size(all, &many);
	for (int i = of_all % 2; i < many; i += 2)
		members[n++] = i;
	MPI_Group_incl(all, n, members, &some);
	MPI_Comm_create_from_group(some, of_all % 2 ? "odd" : "even", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
	place(comm);
	check(size == n, "the size of a half");
	add_up(comm);
	pass_on(comm);
	MPI_Comm_free(&comm);
	MPI_Group_free(&some);
	MPI_Group_free(&all);
	MPI_Session_finalize(&s);
}

void across(void)
{
	MPI_Session s = open_session();
	MPI_Group all, group[2];
	MPI_Comm comm = MPI_COMM_NULL;
	int mine, many, others = -1;

	MPI_Group_from_session_pset(s, "mpi://WORLD", &all);
	MPI_Group_rank(all, &mine);
	MPI_Group_size(all, &many);
	for (int i = 0; i < 2; i++)
		MPI_Group_range_incl(all, 1, (int[][3]){{i, many - 1 - (many - 1 - i) % 2, 2}}, &group[i]);
	int rc = MPI_Intercomm_create_from_groups(group[mine % 2], 0, group[1 - mine % 2], 0, "across", MPI_INFO_NULL,
	                                          MPI_ERRORS_RETURN, &comm);
	if (rc == MPI_SUCCESS) {
		MPI_Comm_remote_size(comm, &others);
		check(others == (many + mine % 2) / 2, "the size of the other group");
		MPI_Barrier(comm);
		MPI_Comm_free(&comm);
	} else {
		printf("MPI_Intercomm_create_from_groups: an error\n");
	}
	MPI_Group_free(&group[0]);
	MPI_Group_free(&group[1]);
	MPI_Group_free(&all);
	MPI_Session_finalize(&s);
}

void sets(void)
{
	MPI_Session s = open_session();
	int n = 0;

	MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n);
	for (int i = 0; i < n; i++) {
		char name[256] = "", members[32] = "";
		int length = 0, room = sizeof members, flag = 0;
		MPI_Info info;

		MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &length, NULL);
		check(length > 1 && length <= (int)sizeof name, "the length of a name");
		MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &length, name);
		check((int)strlen(name) == length - 1, "a name");
		if (strncmp(name, "mpi://", 6)) /* of the launcher's: it is told with the job's number */
			continue;
		MPI_Session_get_pset_info(s, name, &info);
		MPI_Info_get_string(info, "mpi_size", &room, members, &flag);
		printf("%s: %s\n", name, flag ? members : "no size");
		MPI_Info_free(&info);
	}
	MPI_Session_finalize(&s);
}

void window(void)
{
	MPI_Session s = open_session();
	MPI_Comm comm = of_set(s, "mpi://WORLD", "window");
	MPI_Win win;
	int *memory;

	MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, comm, &memory, &win);
	*memory = -1;
	MPI_Win_fence(0, win);
	MPI_Put(&rank, 1, MPI_INT, right, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	check(*memory == left, "what was put");
	MPI_Win_free(&win);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&s);
}

void duplicates(void)
{
	MPI_Session s = open_session();
	MPI_Comm comm = of_set(s, "mpi://WORLD", "duplicates"), copy, part;

	MPI_Comm_dup(comm, &copy);
	MPI_Comm_split(copy, rank / 2, rank, &part);
	add_up(copy);
	place(part);
	add_up(part);
	MPI_Comm_free(&part);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&s);
}

void requests(void)
{
	MPI_Session s = open_session();
	MPI_Comm comm = of_set(s, "mpi://WORLD", "requests");
	MPI_Request r[3];
	int got = -1, sum = 0;

	MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &r[0]);
	MPI_Isend(&rank, 1, MPI_INT, right, 9, comm, &r[1]);
	MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, comm, &r[2]);
	MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
	check(got == left && sum == size - 1, "requests");
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&s);
}

/* It ends with a session that is not over. */
void abandoned(void)
{
	MPI_Session s = open_session();
	MPI_Comm comm = of_set(s, "mpi://WORLD", "abandoned");

	add_up(comm);
	fflush(stdout);
	_Exit(0);
}

void aborts(void)
{
	MPI_Session s = open_session();
	MPI_Comm comm = of_set(s, "mpi://SELF", "aborts");

	add_up(comm);
	MPI_Abort(comm, 5);
}
#endif
