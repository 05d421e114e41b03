/* SPDX-License-Identifier: BSD-3-Clause
 * container - trace files as fuzzers' inputs: the chunks as they are, so that a change of one is a change of what it
 * says
 *
 * An input has the form of doc/trace-format.md, "Container", without checksums and uncompressed (tests/fuzz/seed.py
 * makes it). A mutation takes the table apart, changes one chunk, and puts the whole together again; a harness gives it
 * the checksums that a file has.
 */
#ifndef SPOOR_FUZZ_CONTAINER_H
#define SPOOR_FUZZ_CONTAINER_H

#include <stddef.h>
#include <stdint.h>

/* Makes all checksums right, in place. */
void container_correct(uint8_t *file, size_t size);
/* LLVMFuzzerCustomMutator for harnesses whose input is a container. */
size_t container_mutate(uint8_t *data, size_t size, size_t max, unsigned seed);

#endif
