/* SPDX-License-Identifier: BSD-3-Clause
 * audit - an audit library (LD_AUDIT) that asks to see everything and changes nothing
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>

unsigned la_version(unsigned version)
{
	return version ? LAV_CURRENT : 0;
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	return map && cookie && namespace >= 0 ? LA_FLG_BINDTO | LA_FLG_BINDFROM : 0;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags,
                       const char *name)
{
	return index && from && to && flags && name ? symbol->st_value : symbol->st_value;
}
