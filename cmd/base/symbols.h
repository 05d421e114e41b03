/* SPDX-License-Identifier: BSD-3-Clause
 * symbols - the functions of an ELF file by address, and names as their languages write them
 */
#ifndef SPOOR_SYMBOLS_H
#define SPOOR_SYMBOLS_H

#include <elfutils/libdwfl.h>
#include <stddef.h>

struct symbols;

/* The functions of a module, from all symbol tables that libdwfl finds for it. (dwfl_module_addrname looks at each
 * symbol for each address.) Names are the module's: it must outlive them. Returns NULL on no memory. */
struct symbols *symbols_make(Dwfl_Module *module);
void symbols_free(struct symbols *s);
/* The name of the function that an address is in, as the linker has it; NULL: none is known. */
const char *symbols_at(const struct symbols *s, GElf_Addr address);

/* Writes a linker's name as a reader of the source knows it, cut to size: C++ and Rust without parameters and type
 * arguments ("Foam::PCG::scalarSolve", "mpi::request::wait"), Fortran without its underscores, and with the module
 * ("force::tersoff"). Names of C, and what is not understood, stay. */
void symbol_readable(const char *name, char *out, size_t size);

#endif
