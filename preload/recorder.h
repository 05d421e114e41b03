/* SPDX-License-Identifier: BSD-3-Clause
 * recorder - the recorder of this process: made, identified, stopped (session.c)
 */
#ifndef SPOOR_RECORDER_H
#define SPOOR_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* Makes the recorder on a new arena at path. Returns 0, or -1 with error set. */
int recorder_start(const char *path, uint64_t memory, struct error *error);
/* Its arena gets another name. Returns 0, or -1 and it has its old one. */
int recorder_rename(const char *path);
/* Columns of more tokens than the threshold become tallies (trace/record/lossy.h). structure: the order of calls, and
 * handles, too. */
void recorder_lossy(uint64_t threshold, bool structure);
/* Which events are counted (a list with commas; "": none), and whether all times are kept one by one, with an error of
 * at most so many millionths. */
void recorder_detail(const char *counters, bool times, uint64_t millionths);
/* What of it cannot be done: texts, each behind the last one's separator; "": nothing. Returns out. */
char *recorder_detail_notes(char separator, char *out, size_t size);
/* How many bins histograms of times are to have in the end: 1 .. HISTOGRAM_BINS_MAX. */
void recorder_bins(uint32_t bins);
/* Calls of a function whose call paths differ in at most this many frames are of one site; 0, the default: in none. */
void recorder_tolerate(unsigned frames);
/* Frames of these modules and functions (ignored.h) count as one; "", the default: none. */
void recorder_ignore(const char *names);
/* A file was unloaded: addresses may mean something else from now on. */
void recorder_unloaded(void);
/* No further call is recorded; the arenas stay mapped. wait: other threads that are in the middle of an event are given
 * a moment to end it (not in a forked child, which has no other threads, and whose arenas are its parent's). */
void recorder_stop(bool wait);
/* Around fork, by the thread that does it. If that is inside of a call, the child goes on in a copy of the arena. */
void recorder_fork_begins(void);
void recorder_fork_ends(bool child);
/* MPI_Init is done, and one thread at a time will call MPI: storage for all that the arena may hold, from now on, so
 * that recording makes no system call and cannot meet a full disk. Not where that would be memory (tmpfs). */
void recorder_reserve(void);
/* MPI_Init is done: the identity of this rank. world: equal for the ranks of one MPI_COMM_WORLD, and only for them. The
 * calling thread is the one that initialised MPI. */
void recorder_identify(uint32_t rank, uint32_t size, uint64_t world);
/* What only the kernel knows of the process. filtered: a filter may kill for asking it later. age: ns since it
 * began; 0: not known. */
void recorder_watch(bool filtered, uint64_t age);
/* ns for which it was ready to run, but had no core, since MPI_Init. */
void recorder_queued(uint64_t ns);
/* Facts of the process, as key=value lines; once, and host's name. Returns 0 or -1. */
int recorder_describe(const char *facts, size_t n, const char *host);
/* Where the rank sits: the list of its CPUs, and what its node has (trace/model/placement.h); "": not known. */
void recorder_place(const char *cpus, const char *topology);
void recorder_finalized(void);
/* The arenas need no memory of this process from now on (trace/base/arena.h). */
void recorder_rest(void);
/* Behind recorder_stop: what the calling thread's recorder finds things by needs none, either, unless somebody is in
 * it. True: that is thread 0's, and nobody writes to its arena any more. */
bool recorder_forget(void);

#endif
