/* SPDX-License-Identifier: BSD-3-Clause
 * metadata - the facts of a job as the JSON object of a trace's chunk META (doc/metadata.md), and what is read of it
 */
#ifndef SPOOR_METADATA_H
#define SPOOR_METADATA_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/error.h"
#include "trace/base/facts.h"
#include "insight/figure.h"
#include "insight/verdict.h"

/* The object as malloc'ed text, or NULL if memory is short. Facts that doc/metadata.md does not know become texts under
 * their own names. */
char *metadata_encode(const struct facts *facts);
/* The object of an exit note: what a node without the trace knows of how its tasks ended. */
char *metadata_encode_note(const struct facts *facts);

/* The metadata of a file of the archive (doc/metadata.md), checked against the file's name and owner; a new object, or
 * NULL with error set. */
json_t *metadata_read(const char *path, const char *name, unsigned long uid, struct error *error);
/* What the index knows for certain of a trace: the file's owner, and what Slurm says (archive/slurm_jobs.h); "": that
 * is not known. */
struct metadata_sure {
	const char *user, *account, *partition, *qos;
};
/* The same, with what is certain, and with the worse ending of an exit note (JSON, or ""). What the trace says else is
 * in "claimed_user", "claimed_account" and so on. */
json_t *metadata_read_noted(const char *path, const char *name, int64_t uid, const struct metadata_sure *sure,
                            const char *note, struct error *error);
/* Sets a text to what is certain ("": nothing is). If the trace says something else, that is its claim, for people to
 * see: "claimed_KEY". */
void metadata_set_sure(json_t *metadata, const char *key, const char *sure);
/* Metadata, with a default for what is not there or is of another type. Valid as long as the metadata. */
const char *metadata_text(const json_t *metadata, const char *key, const char *otherwise);
int64_t metadata_number(const json_t *metadata, const char *key, int64_t otherwise);

/* The object in the bytes of a chunk META; new, or NULL with error set. name is for messages. */
json_t *metadata_parse(const char *name, const void *text, size_t n, struct error *error);
/* The text of the object as it is stored; malloc'ed, or NULL if memory is short. */
char *metadata_dump(const json_t *metadata);

/* What ran: the last component of the executable; of Python, R and Julia that of the script. "" if it is not known.
 * Returns out. */
#define METADATA_APPLICATION 128
const char *metadata_application(const json_t *metadata, char out[METADATA_APPLICATION]);
/* A hash of the arguments, without the program's name: runs with other arguments have other input. */
uint64_t metadata_arguments(const json_t *metadata);

/* Sets the times that people read: start, end, elapsed. ns since 1970; negative: not known. */
void metadata_set_times(json_t *metadata, int64_t start_ns, int64_t end_ns);
/* Corrects what Slurm says of the step where its tasks are not the ranks, but a script (in the step `batch` or
 * `interactive`, or in `spoor run`) or mpirun's daemons. Nodes and tasks of a script's program are its own. If the
 * tasks ended well and ranks did not, the state is FAILED, and the exit code not known. Needs hosts, ranks and what
 * makes it partial; a part keeps its nodes. */
void metadata_set_world(json_t *metadata);
/* How the run that a trace is of has ended. False: that is not known, or it goes on. */
bool metadata_run_end(const json_t *metadata, struct run_end *end);
/* What figures need to know of a run (insight/figure.h); without the sizes of its messages. */
struct figure_run metadata_figure_run(const json_t *metadata);
/* How bad the ending is: facts_severity. Of an exit note, too. */
int64_t metadata_severity(const json_t *metadata);
/* If the other (metadata, or an exit note) ended worse, its ending becomes that of the metadata. */
void metadata_take_worse(json_t *metadata, const json_t *other);

#endif
