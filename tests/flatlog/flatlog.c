/* SPDX-License-Identifier: BSD-3-Clause
 * flatlog - lines, and the file that they go to
 */
#include "tests/flatlog/flatlog.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

int spoor_transparent = 1; /* tells spoor that the caller is behind this library */

pthread_mutex_t flatlog_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static enum { EARLY, OPEN, CLOSED } state;
static char *early;
static size_t early_size;

/* Threads: one log for all, or with MPI_THREAD_MULTIPLE one for each that lives at a time. */
enum { MOST = 1000 };
static struct log {
	FILE *out; /* EARLY: memory */
	unsigned long sequence;
	bool taken;
} logs[MOST];
static bool several;
static char *log_path; /* without .log */
static pthread_key_t at_end;
static __thread int mine; /* number; 0 may be none yet */
static __thread bool joined;

static void die(const char *what, const char *which)
{
	fprintf(stderr, "flatlog: %s: %s\n", what, which);
	_exit(99);
}

void *flatlog_next(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	if (!p)
		die("no such function behind this library", name);
	return p;
}

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool from_application(void *return_address)
{
	Dl_info info;

	if (!dladdr(return_address, &info) || !info.dli_fname)
		return true;
	const char *slash = strrchr(info.dli_fname, '/');
	const char *file = slash ? slash + 1 : info.dli_fname;
	if (starts_with(file, "libmpi_cxx")) /* the C++ bindings, which call for the application */
		return true;
	return !starts_with(file, "libmpi") && !starts_with(file, "libopen-") && !starts_with(file, "mca_") &&
	       !starts_with(file, "libspoor") && !starts_with(file, "libompi");
}

/* The calls that this thread is in, outermost first. */
enum { NESTED = 16 };
static __thread struct inside {
	const struct line *line; /* in the wrapper's frame */
	struct line said;
} inside[NESTED];
static __thread int depth;

/* Is a line in a frame of a wrapper that has not ended? */
struct search {
	uintptr_t old, new; /* the line; that of the wrapper that asks, which is further in */
	uintptr_t low;      /* where the frame begins that was seen last */
	uintptr_t address;  /* in its function */
	bool found;
};

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *argument)
{
	struct search *s = argument;
	uintptr_t high = _Unwind_GetCFA(context);
	if (s->low <= s->old && s->old < high) {
		Dl_info own, info;
		s->found = s->low > s->new &&dladdr((void *)s->address, &info) &&
		           dladdr((void *)flatlog_next, &own) && /* NOLINT */
		           info.dli_fbase == own.dli_fbase;
		return _URC_END_OF_STACK;
	}
	s->low = high;
	s->address = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static bool is_on_stack(const struct line *old, const struct line *new)
{
	struct search s = {.old = (uintptr_t)old, .new = (uintptr_t) new};
	_Unwind_Backtrace(look_at_frame, &s);
	return s.found;
}

/* Every value becomes "-"; what is only said where it is MPI_IN_PLACE is not said. */
static void write_left(struct line *l)
{
	for (int i = 0; i < LINE_PARTS; i++) {
		char *text = l->part[i], *rest = NULL, *out = say_name("");
		if (!text)
			continue;
		bool said = getenv("FLATLOG_BUFFERS") || !strstr(text, "=MPI_IN_PLACE");
		for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
			word[strcspn(word, "=")] = '\0';
			out = say_append(out, 0,
			                 say_append(say_name(*out ? " " : ""), 0,
			                            say_append(say_name(word), 0, say_name("=-"))));
		}
		free(text);
		l->part[i] = said ? out : NULL;
		if (!said)
			free(out);
	}
	l->part[LINE_PARTS - 1] = say_name("error=left");
	line_write(l);
}

/* Writes those that are not on the stack; new NULL: all. */
static void write_all_left(const struct line *new)
{
	while (depth > 0 && !(new &&is_on_stack(inside[depth - 1].line, new))) {
		struct line l = inside[depth - 1].said;
		write_left(&l);
	}
}

void *flatlog_inner(const char *profiling_name, void *return_address)
{
	return from_application(return_address) ? NULL : dlsym(RTLD_DEFAULT, profiling_name);
}

static void leave(void *unused)
{
	(void)unused;
	write_all_left(NULL);
	pthread_mutex_lock(&flatlog_lock);
	if (joined && mine > 0)
		logs[mine].taken = false;
	joined = false;
	pthread_mutex_unlock(&flatlog_lock);
}

/* The lowest number that no living thread has. */
static void join(void)
{
	pthread_mutex_lock(&flatlog_lock);
	int number = 1;
	while (number < MOST && logs[number].taken)
		number++;
	if (number == MOST)
		die("too many threads", "");
	logs[number].taken = true;
	mine = number;
	joined = true;
	if (!logs[number].out && state == OPEN) {
		char *path;
		if (asprintf(&path, "%s.%d.log", log_path, number) < 0)
			die("no memory", log_path);
		logs[number].out = fopen(path, "w");
		if (!logs[number].out)
			die("cannot write", path);
		free(path);
	}
	pthread_setspecific(at_end, &logs[number]);
	pthread_mutex_unlock(&flatlog_lock);
}

int flatlog_thread(void)
{
	return several ? mine : 0;
}

static unsigned long long now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (unsigned long long)ts.tv_sec * 1000000000 + (unsigned long long)ts.tv_nsec;
}

/* What other libraries' constructors call is not logged (doc/events.md): those of preloaded libraries come after them.
 * */
static bool begun;

static __attribute__((constructor)) void begin(void)
{
	begun = true;
}

bool line_begin(struct line *l, const char *function, void *return_address)
{
	memset(l, 0, sizeof(*l));
	l->function = function;
	const char *counted = getenv("FLATLOG_COUNTS");
	if (!begun || state == CLOSED || !(counted || getenv("FLATLOG_DIR")) || !from_application(return_address))
		return false;
	if (counted) {
		counts_count(function);
		return false;
	}
	if (several && !joined)
		join();
	write_all_left(l);
	if (getenv("FLATLOG_TIMES"))
		l->begin = now();
	l->part = calloc(LINE_PARTS, sizeof(*l->part));
	if (!l->part || depth == NESTED)
		die("no memory", function);
	inside[depth++] = (struct inside){l, *l};
	return true;
}

void line_put(struct line *l, int i, const char *name, char *value)
{
	free(l->part[i]);
	if (asprintf(&l->part[i], "%s=%s", name, value) < 0)
		die("no memory", name);
	free(value);
}

void line_absent(struct line *l, int i, const char *name)
{
	line_put(l, i, name, say_name("-"));
}

/* bN: the Nth address that was said. */
static char *say_address(const void *buffer)
{
	static const void **known;
	static int count;
	int i = 0;

	pthread_mutex_lock(&flatlog_lock);
	while (i < count && known[i] != buffer)
		i++;
	if (i == count) {
		known = realloc(known, (count + 1) * sizeof(*known));
		if (!known)
			die("no memory", "buffers");
		known[count++] = buffer;
	}
	pthread_mutex_unlock(&flatlog_lock);
	return say_append(say_name("b"), 0, say_int(i));
}

void line_put_buffer(struct line *l, int i, const char *name, const void *buffer, bool significant, bool place)
{
	if (!getenv("FLATLOG_BUFFERS")) {
		if (place && in_place(buffer))
			line_put(l, i, name, say_name("MPI_IN_PLACE"));
	} else if (!significant) {
		line_absent(l, i, name);
	} else if (in_place(buffer)) {
		line_put(l, i, name, say_name("MPI_IN_PLACE"));
	} else {
		line_put(l, i, name, bottom(buffer) ? say_name("MPI_BOTTOM") : say_address(buffer));
	}
}

bool line_end(struct line *l, int rc)
{
	if (rc == MPI_SUCCESS)
		return true;
	int class = rc;
	PMPI_Error_class(rc, &class);
	line_put(l, LINE_PARTS - 1, "error", say_error(class));
	return false;
}

void line_write(struct line *l)
{
	unsigned long long end = l->begin ? now() : 0;
	pthread_mutex_lock(&flatlog_lock);
	struct log *log = &logs[flatlog_thread()];
	if (!log->out && state == EARLY)
		log->out = open_memstream(&early, &early_size);
	FILE *out = log->out;
	if (out && state != CLOSED)
		fprintf(out, "%lu %s", log->sequence++, l->function);
	for (int i = 0; i < LINE_PARTS; i++) {
		if (out && state != CLOSED && l->part[i])
			fprintf(out, " %s", l->part[i]);
		free(l->part[i]);
	}
	free(l->part);
	depth--;
	if (out && state != CLOSED && l->begin)
		fprintf(out, " @%llu-%llu", l->begin, end);
	if (out && state != CLOSED) {
		fputc('\n', out);
		fflush(out);
	}
	pthread_mutex_unlock(&flatlog_lock);
}

static void open_log(int rank, int level)
{
	const char *dir = getenv("FLATLOG_DIR");
	char *path;

	const char *world = getenv("FLATLOG_WORLDS") ? getenv("PMIX_NAMESPACE") : NULL;
	if (asprintf(&path, "%s/%s", dir, world ? world : "") < 0)
		die("no memory", dir);
	mkdir(path, 0777);
	free(path);
	if (asprintf(&log_path, "%s/%s/%d", dir, world ? world : "", rank) < 0 ||
	    asprintf(&path, "%s.log", log_path) < 0)
		die("no memory", dir);
	FILE *file = fopen(path, "w");
	if (!file)
		die("cannot write", path);
	setvbuf(file, NULL, _IOFBF, 1 << 16);
	if (logs[0].out) {
		fclose(logs[0].out);
		fputs(early, file);
		free(early);
		early = NULL;
	}
	logs[0].out = file;
	state = OPEN;
	free(path);
	joined = true;
	several = level == MPI_THREAD_MULTIPLE && pthread_key_create(&at_end, leave) == 0;
}

void flatlog_open(void)
{
	int rank, level = MPI_THREAD_SINGLE;

	if (!getenv("FLATLOG_DIR") || state != EARLY)
		return;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Query_thread(&level);
	open_log(rank, level);
}

void flatlog_open_rank(int rank, bool threads)
{
	if (getenv("FLATLOG_DIR") && state == EARLY)
		open_log(rank, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
}

void flatlog_close(void)
{
	pthread_mutex_lock(&flatlog_lock);
	for (int i = 0; i < MOST && state == OPEN; i++)
		if (logs[i].out)
			fclose(logs[i].out);
	for (int i = 0; i < MOST; i++)
		logs[i].out = NULL;
	state = CLOSED;
	pthread_mutex_unlock(&flatlog_lock);
}

bool flatlog_leave(void)
{
	const char *s = getenv("FLATLOG_IGNORED");

	return s && strcmp(s, "leave") == 0;
}
