/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz - what the harnesses share: each file of tests/fuzz defines LLVMFuzzerTestOneInput for one parser of untrusted
 * input
 *
 * They are linked with libFuzzer to look for new inputs, and with replay.c to read those of tests/fuzz/corpus again.
 */
#ifndef SPOOR_FUZZ_H
#define SPOOR_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct trace;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Where checksums or references would stop nearly every change: of a harness that has one, called by libFuzzer in the
 * place of its own. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
/* libFuzzer's own. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* Where files can be made: TMPDIR, or /tmp where the process has become somebody who may not write there. */
const char *fuzz_folder(void);
/* The path of a file with these bytes, for parsers that want a path; the same name every time. */
const char *fuzz_file(const uint8_t *data, size_t size);
/* The events of a stream, up to a few thousand. Returns 0, or -1 with error set: they cannot be decoded. */
int fuzz_walk(const struct trace *t, uint32_t stream, struct error *error);
/* All that readers do with a trace that passed its checks: walks ranks with their times, looks for a moment, makes the
 * canonical form, merges, encodes and decodes. */
void fuzz_trace(struct trace *t);

#endif
