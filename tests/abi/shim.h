/* SPDX-License-Identifier: BSD-3-Clause
 * shim - a libmpi_abi.so.0 on MPICH: what the functions made by shim.py share
 *
 * All values of the standard's ABI are here numbers and void pointers; those of MPICH have its own types. MPICH's
 * functions are found by dlsym, so that the two names MPI_Send in one process never meet.
 */
#ifndef SPOOR_TESTS_ABI_SHIM_H
#define SPOOR_TESTS_ABI_SHIM_H

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "values.h" /* made: STD_MPI_COMM_WORLD and so on */

typedef void *std_handle;
typedef struct {
	int MPI_SOURCE, MPI_TAG, MPI_ERROR;
	int internal[5];
} std_status;

/* A constant: in the standard's ABI, in MPICH. */
struct pair {
	intptr_t standard, own;
};
struct pairs {
	const struct pair *pair;
	size_t count;
};

/* MPICH's function or variable of this name; ends the process if there is none. */
void *behind(const char *name);
#define BEHIND(name) ((__typeof__(&name))behind(#name))

/* Values on their way to MPICH, and back. What is no constant is the same in both. */
intptr_t pass_in(struct pairs p, intptr_t v);
intptr_t pass_out(struct pairs p, intptr_t v);
int mask_in(struct pairs p, int v);
int mask_out(struct pairs p, int v);
/* Handles below 1024 are constants; MPICH's numbers are above. */
intptr_t handle_in(struct pairs p, std_handle h);
std_handle handle_out(struct pairs p, intptr_t h);
const void *buffer_in(const void *buffer);
const int *weights_in(const int *weights);
void status_in(MPI_Status *own, const std_status *s);
void status_out(std_status *s, const MPI_Status *own, int error_before);
/* Error codes become classes; those of the application stay. */
int code_out(int code);
int code_in(int code);
/* How many elements arrays have that the communicator decides. */
int peers(MPI_Comm comm);
int degree(MPI_Comm comm, int out);

/* Made: the constants of a role. */
extern const struct pairs pairs_peer, pairs_tag, pairs_error, pairs_comm, pairs_type, pairs_win, pairs_file,
	pairs_errhandler, pairs_keyval, pairs_combiner, pairs_op, pairs_request;

/* Defines both names of a function. */
#define DEFINE(result, name, parameters)                                                          \
	result std_##name parameters __asm__("P" #name);                                          \
	result std_weak_##name parameters __asm__(#name) __attribute__((weak, alias("P" #name))); \
	result std_##name parameters

#endif
