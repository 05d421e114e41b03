/* SPDX-License-Identifier: BSD-3-Clause
 * container - a .spoor file: header, table of chunks, chunks (doc/trace-format.md, section "Container")
 *
 * A container is read whole and checked whole: once container_open() has succeeded, every chunk is there, has its
 * checksum, and (with a codec) is decompressed. It knows nothing of what chunks mean. Sizes are checked, and charged to
 * the budget of the reader (trace/base/budget.h), in the table of chunks, before any chunk is read.
 */
#ifndef SPOOR_CONTAINER_H
#define SPOOR_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/error.h"

/* Compression of chunks, given by whoever links a compressor (the tracer does not: it writes chunks as they are). */
struct codec {
	/* Returns the compressed size, or 0 if that is not smaller than n or did not work. out holds n bytes. `joined`:
	 * with the words that most traces have in common. */
	size_t (*compress)(void *out, const void *in, size_t n, bool joined);
	/* Fills exactly n bytes of out. Returns 0, or -1 if the input does not decompress to exactly n bytes. */
	int (*decompress)(void *out, size_t n, const void *in, size_t stored, bool joined);
};

#define CHUNK_ID_SIZE 4
struct chunk {
	char id[CHUNK_ID_SIZE + 1]; /* four printable characters and a NUL: "META" */
	const uint8_t *data;        /* decompressed */
	size_t size;
	uint64_t offset;    /* in the file, for messages; 0 for a chunk that is to be written */
	size_t stored_size; /* in the file, compressed; 0 of a chunk that is joined with others (trace/file/bundle.h) */
};

struct container;

/* Reads and checks the file. codec may be NULL: then a compressed chunk is an error. Returns 0, or -1 with
	 * error set ("FILE: chunk SITE at offset 312: checksum mismatch ..."). The caller destroys *out. */
int container_open(struct container **out, const char *path, const struct codec *codec, struct error *error);
/* The same of a file that is open, which is closed in any case; name is used in messages. */
int container_take(struct container **out, int fd, const char *name, const struct codec *codec, struct error *error);
/* The same from memory. bytes are copied. */
int container_parse(struct container **out, const char *name, const void *bytes, size_t n, const struct codec *codec,
                    struct error *error);
/* The same without a copy: bytes are malloc'ed, and the container's from then on, also on failure. */
int container_parse_take(struct container **out, const char *name, uint8_t *bytes, size_t n, const struct codec *codec,
                         struct error *error);
void container_destroy(struct container *c);

size_t container_count(const struct container *c);
const struct chunk *container_at(const struct container *c, size_t i);
/* The chunk with this id, or NULL. Valid until the container is destroyed. */
const struct chunk *container_find(const struct container *c, const char *id);
/* Of all chunks, decompressed. */
uint64_t container_bytes(const struct container *c);
/* Size of the file in bytes. */
size_t container_file_size(const struct container *c);
/* The user whose file it is: the only one who is certain; -1: it was no file. */
int64_t container_owner(const struct container *c);
const char *container_name(const struct container *c);

/* Only one chunk of a file that is open, and stays so, read with as little I/O as possible (header, table, chunk): what
 * `spoor list` needs. The caller frees *data. Returns 0 found, 1 no such chunk, -1 error. *data has a NUL behind its
 * last byte. */
int container_read_chunk(int fd, const char *name, const char *id, const struct codec *codec, uint8_t **data,
                         size_t *size, struct error *error);

/* What a reader must know, as bits (the incompatible flags): groups of edits; that small chunks are joined. */
#define CONTAINER_EDITS  UINT32_C(1)
#define CONTAINER_JOINED UINT32_C(2)
/* Those that chunks need, however they are stored. */
uint32_t container_needs(const struct container *c);
/* Bytes in the file of the chunks that are joined; 0: none are. */
size_t container_joined_size(const struct container *c);

/* Encodes chunks (id, data, size are used) into one malloc'ed buffer. Returns 0, or -1 (no memory). codec may be NULL:
 * then they are neither compressed nor joined. */
int container_encode(const struct chunk *chunks, size_t n, uint32_t needs, const struct codec *codec, uint8_t **out,
                     size_t *size);

#endif
