/* SPDX-License-Identifier: BSD-3-Clause
 * prelude - what a generated program has of functions of its own, as far as it uses them
 *
 * They call PMPI_ names where what they do is not what the application did, so that tools do not see it. Polls are made
 * with MPI_ names: they are waiting, and that is what the application did.
 */
#include "proxy/prelude.h"

#include <stdbool.h>

/* Those below a function are called by none above it. */
static const struct snippet {
	const char *name, *text;
} snippets[] = {
	{"grown",
         "struct pool {\n"
         "\tstruct pool *next;\n"
         "\tsize_t size;\n"
         "\tchar bytes[];\n"
         "};\n"
         "enum { OUT, IN, MEMORY, ROOMS = 8 }; /* what a pool is for */\n"
         "static struct pool *pools[3 + ROOMS];\n\n"
         "/* Room that lasts to the end: what is outgrown may still be in use. What nobody reads has no value. */\n"
         "static void *grown(struct pool **pool, size_t size)\n"
         "{\n"
         "\tif (!*pool || (*pool)->size < size) {\n"
         "\t\tconst size_t all = size + (*pool && size < 2 * (*pool)->size ? size / 2 : 0);\n"
         "\t\tstruct pool *more = pool < &pools[3] ? calloc(1, sizeof *more + all) : malloc(sizeof *more + all);\n\n"
         "\t\tif (!more) {\n"
         "\t\t\tfprintf(stderr, \"no memory for %zu bytes\\n\", size);\n"
         "\t\t\tabort();\n\t\t}\n"
         "\t\t*more = (struct pool){.next = *pool, .size = all};\n"
         "\t\t*pool = more;\n"
         "\t}\n"
         "\treturn (*pool)->bytes;\n"
         "}\n\n"},
	{"reserve", "/* Room that is enough for most: what it takes to make it is not between two calls. */\n"
                    "static void reserve(void)\n{\n"
                    "\tgrown(&pools[OUT], 1 << 19);\n\tgrown(&pools[IN], 1 << 19);\n}\n\n"},
	{"release", "static void release(void)\n"
                    "{\n"
                    "\tfor (int i = 0; i < 3 + ROOMS; i++)\n"
                    "\t\twhile (pools[i]) {\n"
                    "\t\t\tstruct pool *next = pools[i]->next;\n\n"
                    "\t\t\tfree(pools[i]);\n"
                    "\t\t\tpools[i] = next;\n"
                    "\t\t}\n"
                    "}\n\n"},
	{"room", "/* For what a call returns, and nobody reads. */\n"
                 "static void *room(size_t size)\n"
                 "{\n"
                 "\tstatic int next;\n\n"
                 "\tnext = (next + 1) % ROOMS;\n"
                 "\treturn grown(&pools[3 + next], size);\n"
                 "}\n\n"},
	{"memory", "/* Of a window, or for buffered sends. */\n"
                   "static void *memory(size_t size)\n"
                   "{\n"
                   "\tstruct pool *own = NULL;\n"
                   "\tvoid *bytes = grown(&own, size);\n\n"
                   "\town->next = pools[3];\n"
                   "\tpools[3] = own;\n"
                   "\treturn bytes;\n"
                   "}\n\n"},
	{"shift", "/* Bytes from low on, relative to the address that is returned. */\n"
                  "static void *shift(int side, MPI_Aint low, MPI_Aint bytes)\n"
                  "{\n"
                  "\treturn (void *)((uintptr_t)grown(&pools[side], bytes > 0 ? (size_t)bytes : 1) - (uintptr_t)low);\n"
                  "}\n\n"},
	{"known", "/* The type that was asked for last. */\n"
                  "static struct {\n\tMPI_Datatype type;\n\tMPI_Aint low, bytes, extent;\n\tint asked;\n} known;\n\n"},
	{"forgotten", "/* Another type may get the handle of one that is freed. */\n"
                      "static MPI_Datatype *forgotten(MPI_Datatype *type)\n{\n"
                      "\tknown.asked = 0;\n\treturn type;\n}\n\n"},
	{"buffer",
         "static void *buffer(int side, long count, MPI_Datatype type)\n"
         "{\n"
         "\tMPI_Aint extent;\n\n"
         "\tif (count <= 0)\n"
         "\t\treturn shift(side, 0, 1);\n"
         "\tif (!known.asked || known.type != type) {\n"
         "\t\tPMPI_Type_get_extent(type, &extent, &known.extent);\n"
         "\t\tPMPI_Type_get_true_extent(type, &known.low, &known.bytes);\n"
         "\t\tknown.type = type;\n\t\tknown.asked = 1;\n"
         "\t}\n"
         "\textent = (count - 1) * known.extent;\n"
         "\treturn shift(side, known.low + (extent < 0 ? extent : 0), known.bytes + (extent < 0 ? -extent : extent));\n"
         "}\n\n"},
#define TOTAL(name, type)                                       \
	"static long " name "(int n, const " type " *counts)\n" \
	"{\n"                                                   \
	"\tlong sum = 0;\n\n"                                   \
	"\tfor (int i = 0; i < n; i++)\n"                       \
	"\t\tsum += (long)counts[i];\n"                         \
	"\treturn sum;\n"                                       \
	"}\n\n"
	{"total", TOTAL("total", "int")},
	{"large_total", TOTAL("large_total", "MPI_Count")},
#define VECTOR(name, type, displ)                                                                                      \
	"static void *" name "(int side, int n, const " type " *counts, const " displ " *displs, MPI_Datatype type)\n" \
	"{\n"                                                                                                          \
	"\tlong end = 0;\n\n"                                                                                          \
	"\tfor (int i = 0; counts && displs && i < n; i++)\n"                                                          \
	"\t\tif (counts[i] > 0 && (long)displs[i] + (long)counts[i] > end)\n"                                          \
	"\t\t\tend = (long)displs[i] + (long)counts[i];\n"                                                             \
	"\treturn buffer(side, end, type);\n"                                                                          \
	"}\n\n"
	{"vector", VECTOR("vector", "int", "int")},
	{"large_vector", VECTOR("large_vector", "MPI_Count", "MPI_Aint")},
#define TYPED(name, count, displ)                                                      \
	"static void *" name "(int side, int n, const " count " *counts, const " displ \
	" *displs, const MPI_Datatype *types)\n"                                       \
	"{\n"                                                                          \
	"\tMPI_Aint end = 0;\n\n"                                                      \
	"\tfor (int i = 0; counts && displs && types && i < n; i++) {\n"               \
	"\t\tMPI_Aint low, extent, true_low, true_extent, last;\n\n"                   \
	"\t\tPMPI_Type_get_extent(types[i], &low, &extent);\n"                         \
	"\t\tPMPI_Type_get_true_extent(types[i], &true_low, &true_extent);\n"          \
	"\t\tlast = displs[i] + true_low + true_extent + (counts[i] - 1) * extent;\n"  \
	"\t\tend = counts[i] > 0 && last > end ? last : end;\n"                        \
	"\t}\n"                                                                        \
	"\treturn shift(side, 0, end);\n"                                              \
	"}\n\n"
	{"typed_vector", TYPED("typed_vector", "int", "int")},
	{"typed_vector_aint", TYPED("typed_vector_aint", "int", "MPI_Aint")},
	{"typed_vector_large", TYPED("typed_vector_large", "MPI_Count", "MPI_Aint")},
	{"rank_in", "static long rank_in(MPI_Comm in)\n"
                    "{\n"
                    "\tint n = 0;\n\n"
                    "\tif (in != MPI_COMM_NULL)\n"
                    "\t\tPMPI_Comm_rank(in, &n);\n"
                    "\treturn n;\n"
                    "}\n\n"},
	{"peer", "/* A rank that is relative to `base`, or a constant. */\n"
                 "enum { KEPT = 1 << 24 };\n"
                 "static long peer(long base, long x)\n"
                 "{\n"
                 "\treturn x > KEPT / 2 ? x - KEPT : base + x;\n"
                 "}\n\n"},
	{"peers", "static long peers(MPI_Comm in)\n"
                  "{\n"
                  "\tint n, inter;\n\n"
                  "\tPMPI_Comm_test_inter(in, &inter);\n"
                  "\tif (inter)\n"
                  "\t\tPMPI_Comm_remote_size(in, &n);\n"
                  "\telse\n"
                  "\t\tPMPI_Comm_size(in, &n);\n"
                  "\treturn n;\n"
                  "}\n\n"},
	{"neighbours", "static void neighbours(MPI_Comm in, int *from, int *to)\n"
                       "{\n"
                       "\tint topology, n, weighted;\n\n"
                       "\tPMPI_Topo_test(in, &topology);\n"
                       "\tif (topology == MPI_DIST_GRAPH) {\n"
                       "\t\tPMPI_Dist_graph_neighbors_count(in, from, to, &weighted);\n"
                       "\t} else if (topology == MPI_CART) {\n"
                       "\t\tPMPI_Cartdim_get(in, &n);\n"
                       "\t\t*from = *to = 2 * n;\n"
                       "\t} else {\n"
                       "\t\tPMPI_Comm_rank(in, &n);\n"
                       "\t\tPMPI_Graph_neighbors_count(in, n, from);\n"
                       "\t\t*to = *from;\n"
                       "\t}\n"
                       "}\n\n"},
	{"sources", "static long sources(MPI_Comm in)\n{\n\tint from, to;\n\n\tneighbours(in, &from, &to);\n\treturn "
                    "from;\n}\n\n"},
	{"destinations", "static long destinations(MPI_Comm in)\n{\n\tint from, to;\n\n\tneighbours(in, &from, "
                         "&to);\n\treturn to;\n}\n\n"},
	{"started",
         "/* So many requests are not complete. */\nstatic int started(void)\n{\n\tint n = 0;\n\n\twhile (n < "
         "(int)(sizeof request / sizeof *request) && request[n] != MPI_REQUEST_NULL)\n\t\tn++;\n\treturn n;\n}\n\n"},
	{"gather", "/* An array of requests, by number; -1: none. */\n"
                   "static MPI_Request *gather(int n, const int *numbers)\n"
                   "{\n"
                   "\tstatic struct pool *pool;\n"
                   "\tMPI_Request *array = grown(&pool, ((size_t)n + 1) * sizeof *array);\n\n"
                   "\tfor (int i = 0; i < n; i++)\n"
                   "\t\tarray[i] = numbers[i] < 0 ? MPI_REQUEST_NULL : request[numbers[i]];\n"
                   "\treturn array;\n"
                   "}\n\n"},
	{"scatter", "static void scatter(int n, const int *numbers, const MPI_Request *array)\n"
                    "{\n"
                    "\tfor (int i = 0; i < n; i++)\n"
                    "\t\tif (numbers[i] >= 0)\n"
                    "\t\t\trequest[numbers[i]] = array[i];\n"
                    "}\n\n"},
	{"poll_few", "/* The requests that were found, without others that are complete, too. */\n"
                     "static MPI_Request *poll_few(int found, const int *indices, int n, const MPI_Request *array)\n"
                     "{\n"
                     "\tstatic struct pool *pool;\n"
                     "\tMPI_Request *few = grown(&pool, ((size_t)n + 1) * sizeof *few);\n\n"
                     "\tfor (int i = 0; i < n; i++)\n"
                     "\t\tfew[i] = MPI_REQUEST_NULL;\n"
                     "\tfor (int i = 0; indices && i < found; i++)\n"
                     "\t\tfew[indices[i]] = array[indices[i]];\n"
                     "\treturn few;\n"
                     "}\n\n"},
	{"await_all", "/* What was found complete then is waited for first, so that all of it is found now. */\n"
                      "static void await_all(int found, const int *indices, const MPI_Request *array)\n"
                      "{\n"
                      "\tfor (int i = 0; indices && i < found; i++)\n"
                      "\t\tfor (int flag = 0; !flag;)\n"
                      "\t\t\tMPI_Request_get_status(array[indices[i]], &flag, MPI_STATUS_IGNORE);\n"
                      "}\n\n"},
	{"await_one", "static void await_one(int index, int n, MPI_Request *array)\n"
                      "{\n"
                      "\tMPI_Request *few = poll_few(index >= 0, &index, n, array);\n"
                      "\tint which;\n\n"
                      "\tMPI_Waitany(n, few, &which, MPI_STATUS_IGNORE);\n"
                      "\tif (index >= 0)\n"
                      "\t\tarray[index] = few[index];\n"
                      "}\n\n"},
	{"await_some", "static void await_some(int found, const int *indices, int n, MPI_Request *array)\n"
                       "{\n"
                       "\tMPI_Request *few = poll_few(found, indices, n, array);\n"
                       "\tint count;\n\n"
                       "\tawait_all(found, indices, array);\n"
                       "\tMPI_Waitsome(n, few, &count, room(sizeof(int) * (size_t)(n + 1)), MPI_STATUSES_IGNORE);\n"
                       "\tfor (int i = 0; indices && i < found; i++)\n"
                       "\t\tarray[indices[i]] = few[indices[i]];\n"
                       "}\n\n"},
	{"poll_request", "/* Polls, as the others: is there to be another one? */\n"
                         "static int poll_request(MPI_Request *one)\n"
                         "{\n\tint flag;\n\n"
                         "\tMPI_Test(one, &flag, MPI_STATUS_IGNORE);\n"
                         "\treturn !flag;\n"
                         "}\n\n"},
	{"poll_status", "static int poll_status(MPI_Request one)\n"
                        "{\n"
                        "\tint flag;\n\n"
                        "\tMPI_Request_get_status(one, &flag, MPI_STATUS_IGNORE);\n"
                        "\treturn !flag;\n"
                        "}\n\n"},
	{"poll_all", "static int poll_all(int n, MPI_Request *array)\n"
                     "{\n"
                     "\tint flag;\n\n"
                     "\tMPI_Testall(n, array, &flag, MPI_STATUSES_IGNORE);\n"
                     "\treturn !flag;\n"
                     "}\n\n"},
	{"poll_one", "static int poll_one(int index, int n, MPI_Request *array)\n"
                     "{\n"
                     "\tMPI_Request *few = poll_few(index >= 0, &index, n, array);\n"
                     "\tint flag, which;\n\n"
                     "\tMPI_Testany(n, few, &which, &flag, MPI_STATUS_IGNORE);\n"
                     "\tif (index >= 0)\n"
                     "\t\tarray[index] = few[index];\n"
                     "\treturn !flag;\n"
                     "}\n\n"},
	{"poll_some", "static int poll_some(int found, const int *indices, int n, MPI_Request *array)\n"
                      "{\n"
                      "\tMPI_Request *few = poll_few(found, indices, n, array);\n"
                      "\tint count;\n\n"
                      "\tawait_all(found, indices, array);\n"
                      "\tMPI_Testsome(n, few, &count, room(sizeof(int) * (size_t)(n + 1)), MPI_STATUSES_IGNORE);\n"
                      "\tfor (int i = 0; indices && i < found; i++)\n"
                      "\t\tarray[indices[i]] = few[indices[i]];\n"
                      "\treturn !count;\n"
                      "}\n\n"},
	{"poll_message", "static int poll_message(int source, int tag, MPI_Comm in)\n"
                         "{\n"
                         "\tint flag;\n\n"
                         "\tMPI_Iprobe(source, tag, in, &flag, MPI_STATUS_IGNORE);\n"
                         "\treturn !flag;\n"
                         "}\n\n"},
	{"poll_matched", "static int poll_matched(int source, int tag, MPI_Comm in, MPI_Message *message)\n"
                         "{\n"
                         "\tint flag;\n\n"
                         "\tMPI_Improbe(source, tag, in, &flag, message, MPI_STATUS_IGNORE);\n"
                         "\treturn !flag;\n"
                         "}\n\n"},
	{"allocated", "static void *allocations[4096];\n"
                      "static int allocation_count;\n\n"
                      "static void *allocated(void)\n{\n\treturn &allocations[allocation_count++ % 4096];\n}\n\n"},
	{"freed", "static void *freed(void)\n{\n\treturn allocations[--allocation_count % 4096];\n}\n\n"},
	{"status", "static MPI_Status *status(int source, int tag, long count, MPI_Datatype of)\n"
                   "{\n"
                   "\tstatic MPI_Status s;\n"
                   "\tint bytes = 1;\n\n"
                   "\tmemset(&s, 0, sizeof s);\n"
                   "\ts.MPI_SOURCE = source;\n"
                   "\ts.MPI_TAG = tag;\n"
                   "\tif (count < 0) {\n"
                   "\t\tPMPI_Type_size(of, &bytes);\n"
                   "\t\tPMPI_Status_set_elements(&s, MPI_BYTE, bytes + 1);\n"
                   "\t} else {\n"
                   "\t\tPMPI_Status_set_elements(&s, of, (int)count);\n"
                   "\t}\n"
                   "\treturn &s;\n"
                   "}\n\n"},
	{"cancelled", "static MPI_Status *cancelled(int flag)\n"
                      "{\n"
                      "\tstatic MPI_Status s;\n\n"
                      "\tmemset(&s, 0, sizeof s);\n"
                      "\ts.MPI_SOURCE = MPI_ANY_SOURCE;\n"
                      "\ts.MPI_TAG = MPI_ANY_TAG;\n"
                      "\tPMPI_Status_set_cancelled(&s, flag);\n"
                      "\treturn &s;\n"
                      "}\n\n"},
#define POSITION_EXTERNAL(name, type, count, suffix)                                          \
	"static " type " *" name "(" type " end, long count, MPI_Datatype type)\n"            \
	"{\n"                                                                                 \
	"\tstatic " type " at;\n\n"                                                           \
	"\tPMPI_Pack_external_size" suffix "(\"external32\", (" count ")count, type, &at);\n" \
	"\tat = end > at ? end - at : 0;\n"                                                   \
	"\treturn &at;\n"                                                                     \
	"}\n\n"
	{"position_external", POSITION_EXTERNAL("position_external", "MPI_Aint", "int", "")},
	{"large_position_external", POSITION_EXTERNAL("large_position_external", "MPI_Count", "MPI_Count", "_c")},
#define POSITION(name, type, suffix)                                                            \
	"/* Where a call begins that ends at `end`. */\n"                                       \
	"static " type " *" name "(" type " end, long count, MPI_Datatype type, MPI_Comm in)\n" \
	"{\n"                                                                                   \
	"\tstatic " type " at;\n\n"                                                             \
	"\tPMPI_Pack_size" suffix "((" type ")count, type, in, &at);\n"                         \
	"\tat = end > at ? end - at : 0;\n"                                                     \
	"\treturn &at;\n"                                                                       \
	"}\n\n"
	{"position", POSITION("position", "int", "")},
	{"large_position", POSITION("large_position", "MPI_Count", "_c")},
	{"attribute", "static void *attribute(void)\n{\n\tstatic long value[2];\n\n\treturn value;\n}\n\n"},
	{"attribute_known",
         "static int attribute_known(int key)\n"
         "{\n"
         "\treturn key == MPI_TAG_UB || key == MPI_HOST || key == MPI_IO || key == MPI_WTIME_IS_GLOBAL || "
         "key == MPI_UNIVERSE_SIZE ||\n"
         "\t       key == MPI_LASTUSEDCODE || key == MPI_APPNUM;\n"
         "}\n\n"},
#define ATTRIBUTE(name, type, of, known)                                                                     \
	"/* An attribute is there if it was: only the application knows what is copied with an object. */\n" \
	"static void " name "(long was, " type " of, int key)\n"                                             \
	"{\n"                                                                                                \
	"\tvoid *value;\n"                                                                                   \
	"\tint is;\n\n"                                                                                      \
	"\tPMPI_" of "_get_attr(of, key, &value, &is);\n"                                                    \
	"\tif (was && !is" known ")\n"                                                                       \
	"\t\tPMPI_" of "_set_attr(of, key, attribute());\n"                                                  \
	"\telse if (is && !was" known ")\n"                                                                  \
	"\t\tPMPI_" of "_delete_attr(of, key);\n"                                                            \
	"}\n\n"
	{"attribute_comm", ATTRIBUTE("attribute_comm", "MPI_Comm", "Comm", " && !attribute_known(key)")},
	{"attribute_type", ATTRIBUTE("attribute_type", "MPI_Datatype", "Type", "")},
	{"attribute_win", ATTRIBUTE("attribute_win", "MPI_Win", "Win", "")},
	{"large_combine", "static void large_combine(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)\n"
                          "{\n"
                          "\t(void)in, (void)inout, (void)count, (void)type;\n"
                          "}\n\n"},
	{"scratch_path",
         "#include <dirent.h>\n#include <fcntl.h>\n#include <limits.h>\n#include <sys/stat.h>\n#include <unistd.h>\n\n"
         "static char scratch_path[PATH_MAX];\n\n"},
	{"scratch_make",
         "/* The application's files are in a folder of their own: a new one below SCRATCH or TMPDIR. */\n"
         "static void scratch_make(void)\n"
         "{\n"
         "\tconst char *const own = getenv(\"SCRATCH\"), *const other = getenv(\"TMPDIR\");\n\n"
         "\tif (rank == 0) {\n"
         "\t\tsnprintf(scratch_path, sizeof scratch_path, \"%s/proxy.XXXXXX\", own ? own : other ? other : \"/tmp\");\n"
         "\t\tif (!mkdtemp(scratch_path)) {\n"
         "\t\t\tperror(scratch_path);\n"
         "\t\t\tMPI_Abort(MPI_COMM_WORLD, 1);\n"
         "\t\t}\n"
         "\t}\n"
         "\tPMPI_Bcast(scratch_path, sizeof scratch_path, MPI_CHAR, 0, MPI_COMM_WORLD);\n"
         "\tmkdir(scratch_path, 0700); /* on other nodes, if it is not shared */\n"
         "}\n\n"},
	{"scratch_remove", "static void scratch_remove(void)\n"
                           "{\n"
                           "\tDIR *const folder = opendir(scratch_path);\n\n"
                           "\tfor (struct dirent *e; folder && (e = readdir(folder)) != NULL;)\n"
                           "\t\tif (strcmp(e->d_name, \".\") != 0 && strcmp(e->d_name, \"..\") != 0)\n"
                           "\t\t\tunlinkat(dirfd(folder), e->d_name, 0);\n"
                           "\tif (folder)\n"
                           "\t\tclosedir(folder);\n"
                           "\trmdir(scratch_path);\n"
                           "}\n\n"},
	{"scratch",
         "/* A file's place there. It is made here, unless that must fail: some libraries wait for ever if others open "
         "it\n"
         " * before rank 0 has made it. */\n"
         "static const char *scratch(const char *name, int mode)\n"
         "{\n"
         "\tstatic char path[sizeof scratch_path + 300];\n"
         "\tunsigned long hash = 5381;\n"
         "\tsize_t n = (size_t)snprintf(path, sizeof path, \"%s/\", scratch_path), length = strlen(name);\n\n"
         "\tfor (size_t i = 0; i < length; i++)\n"
         "\t\thash = hash * 33 + (unsigned char)name[i];\n"
         "\tfor (size_t i = length > 60 ? length - 60 : 0; i < length; i++)\n"
         "\t\tpath[n++] = name[i] == '/' || name[i] == ':' ? '_' : name[i];\n"
         "\tsnprintf(path + n, 30, \".%lx\", hash);\n"
         "\tif (!(mode & MPI_MODE_EXCL)) {\n"
         "\t\tconst int fd = open(path, O_RDWR | O_CREAT, 0600);\n\n"
         "\t\tif (fd >= 0)\n"
         "\t\t\tclose(fd);\n"
         "\t}\n"
         "\treturn path;\n"
         "}\n\n"},
	{"combine", "/* In place of the application's operation, which is not known. */\n"
                    "static void combine(void *in, void *inout, int *count, MPI_Datatype *type)\n"
                    "{\n"
                    "\t(void)in, (void)inout, (void)count, (void)type;\n"
                    "}\n\n"},
	{"comm_error", "static void comm_error(MPI_Comm *in, int *code, ...)\n{\n\t(void)in, (void)code;\n}\n\n"},
	{"win_error", "static void win_error(MPI_Win *in, int *code, ...)\n{\n\t(void)in, (void)code;\n}\n\n"},
	{"file_error", "static void file_error(MPI_File *in, int *code, ...)\n{\n\t(void)in, (void)code;\n}\n\n"},
	{"beside", "#define NOBODY 1000000000L\nstatic long beside(long who, long by)\n{\n\treturn by == NOBODY ? "
                   "MPI_PROC_NULL : who + by;\n}\n\n"},
	{"again_from", "static long again_from(long v, long lead, long period)\n"
                       "{\n\treturn v < lead ? v : lead + (v - lead) % period;\n}\n\n"},
	{"at_most", "static long at_most(long v, long most)\n{\n\treturn v < most ? v : most;\n}\n\n"},
	{"draw_counted",
         "#ifndef SEED\n#define SEED 1\n#endif\n\n"
         "/* Value number i of `all`, in an order that SEED says: each comes as often as it was counted.\n"
         " * Bins are {least, most, how many, their sum}. */\n"
         "static long draw_counted(const long (*bin)[4], long all, long i, long which)\n"
         "{\n"
         "\tlong factor = (long)((double)all * 0.618) | 1, a = factor, b = all;\n\n"
         "\twhile (b) { /* nothing but 1 divides both */\n"
         "\t\tconst long rest = a % b;\n\n"
         "\t\ta = b;\n"
         "\t\tb = rest;\n"
         "\t\tif (b == 0 && a > 1)\n"
         "\t\t\tfactor++, a = factor, b = all;\n"
         "\t}\n"
         "\ti = (long)(((long long)(i % all) * (factor % all) + (long)((SEED) * 7919ULL % 1000003) + which) % "
         "all);\n"
         "\tfor (; i >= (*bin)[2]; bin++)\n"
         "\t\ti -= (*bin)[2];\n"
         "\tconst long n = (*bin)[2], mean = (*bin)[3] / n, rest = (*bin)[3] % n;\n"
         "\tconst long below = mean - (*bin)[0], above = (*bin)[1] - mean - (rest > 0);\n"
         "\tconst long width = below < above ? below : above; /* on both sides, so that the sum is right */\n\n"
         "\treturn mean + (i < rest) + (width > 0 ? (long)((double)width * (double)(2 * i + 1 - n) / (double)n) : 0);\n"
         "}\n\n"},
	{"draw", "/* The next value of runs {start, stride, how many; 0: for ever}; those from `lead` on come again.\n"
                 " * {times, 0, -rows}: these rows above come so many times more. */\n"
                 "static long draw(const void *table, long n, long lead, long *at)\n"
                 "{\n"
                 "\tconst long(*const runs)[3] = table;\n\n"
                 "\twhile (runs[at[0]][2] < 0) {\n"
                 "\t\tlong *again = &at[2 + at[0]];\n"
                 "\t\tif (*again < runs[at[0]][0]) {\n"
                 "\t\t\t++*again;\n"
                 "\t\t\tat[0] += runs[at[0]][2];\n"
                 "\t\t} else {\n"
                 "\t\t\t*again = 0;\n"
                 "\t\t\tat[0] = at[0] + 1 < n ? at[0] + 1 : lead;\n"
                 "\t\t}\n"
                 "\t}\n"
                 "\tconst long *run = runs[at[0]];\n"
                 "\tlong value = run[0] + at[1]++ * run[1];\n"
                 "\tif (run[2] && at[1] >= run[2]) {\n"
                 "\t\tat[1] = 0;\n"
                 "\t\tat[0] = at[0] + 1 < n ? at[0] + 1 : lead < n ? lead : at[0];\n"
                 "\t}\n"
                 "\treturn value;\n"
                 "}\n\n"},
};

enum { SNIPPETS = sizeof snippets / sizeof *snippets };

void prelude_begin(FILE *out, const char *title)
{
	fprintf(out,
	        "/* %s */\n#define _POSIX_C_SOURCE 200809L\n#include <mpi.h>\n#include <stdint.h>\n"
	        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
	        "/* Constants of some MPI libraries look like addresses that are too small, which gcc tells of. */\n"
	        "#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11\n"
	        "#pragma GCC diagnostic ignored \"-Wstringop-overflow\"\n"
	        "#pragma GCC diagnostic ignored \"-Wstringop-overread\"\n#endif\n\n",
	        title);
}

void prelude_write(FILE *out, const struct printed *program)
{
	bool used[SNIPPETS] = {false};
	for (size_t i = SNIPPETS; i-- > 0;) {
		used[i] = printed_has(program, snippets[i].name);
		for (size_t k = i + 1; k < SNIPPETS && !used[i]; k++)
			used[i] = used[k] && print_has_word(snippets[k].text, snippets[i].name);
	}
	for (size_t i = 0; i < SNIPPETS; i++)
		if (used[i])
			fputs(snippets[i].text, out);
}
