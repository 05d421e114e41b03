/* SPDX-License-Identifier: BSD-3-Clause
 * symbols - functions of an ELF file, sorted by address
 *
 * Several symbols may have one address. The one that is kept has a size rather than none, and is global rather than
 * weak, and weak rather than local: as dwfl_module_addrname chooses.
 */
#include "cmd/base/symbols.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/number.h"

struct symbol {
	GElf_Addr address;
	GElf_Xword size; /* 0: not known */
	const char *name;
	int worth; /* of several at one address the one that is worth most is taken */
};

struct symbols {
	size_t count;
	struct symbol of[];
};

static int symbol_order(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return y->worth != x->worth ? y->worth - x->worth : strcmp(x->name, y->name);
}

static bool get_function(Dwfl_Module *module, int i, struct symbol *out)
{
	GElf_Sym sym;
	const char *name = dwfl_module_getsym_info(module, i, &sym, &out->address, NULL, NULL, NULL);
	int type = name ? GELF_ST_TYPE(sym.st_info) : STT_FILE, binding = name ? GELF_ST_BIND(sym.st_info) : STB_LOCAL;
	if (!name || !*name || sym.st_shndx == SHN_UNDEF ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
		return false;
	out->size = sym.st_size;
	out->name = name;
	out->worth = (sym.st_size ? 4 : 0) + (binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0);
	return true;
}

struct symbols *symbols_make(Dwfl_Module *module)
{
	int n = dwfl_module_getsymtab(module);
	struct symbols *s = malloc(sizeof *s + (n > 0 ? (size_t)n : 0) * sizeof *s->of);
	if (!s)
		return NULL;
	s->count = 0;
	for (int i = 1; i < n; i++)
		s->count += get_function(module, i, &s->of[s->count]);
	qsort(s->of, s->count, sizeof *s->of, symbol_order);
	size_t kept = 0;
	for (size_t i = 0; i < s->count; i++)
		if (kept == 0 || s->of[i].address != s->of[kept - 1].address)
			s->of[kept++] = s->of[i];
	s->count = kept;
	return s;
}

void symbols_free(struct symbols *s)
{
	free(s);
}

const char *symbols_at(const struct symbols *s, GElf_Addr address)
{
	size_t low = 0,
	       high = s->count; /* those below low begin at the address or before it, those from high on later */
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (s->of[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	const struct symbol *found = &s->of[low - 1];
	return found->size == 0 || address - found->address < found->size ? found->name : NULL;
}

/* ---- names ---- */

/* Of libstdc++; <cxxabi.h> is for C++ only. */
extern char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);

/* Behind "operator": its sign, which may look like the begin of parameters or of type arguments. Returns its length. */
static size_t operator_sign(const char *s)
{
	if (s[0] == '(' && s[1] == ')')
		return 2;
	return strspn(s, "<>-=!");
}

/* "void Foam::gSum<double>(Foam::UList<double> const&)" -> "Foam::gSum" */
static void put_without_arguments(const char *s, char *out, size_t size)
{
	static const char anonymous[] = "(anonymous namespace)", op[] = "operator";
	size_t n = 0, depth = 0, skip = 0;
	for (; *s && n + 1 < size; s++) {
		if (depth == 0 && skip == 0 && strncmp(s, anonymous, sizeof anonymous - 1) == 0)
			skip = sizeof anonymous - 1;
		else if (depth == 0 && skip == 0 && strncmp(s, op, sizeof op - 1) == 0)
			skip = sizeof op - 1 + operator_sign(s + sizeof op - 1);
		if (skip) {
			out[n++] = *s;
			skip--;
			continue;
		}
		if (depth == 0 && *s == '(' && n > 0)
			break;
		if (depth == 0 && *s == ' ') { /* what was before is what it returns */
			n = 0;
			continue;
		}
		depth += *s == '<';
		if (depth == 0)
			out[n++] = *s;
		depth -= *s == '>' && depth > 0;
	}
	out[n] = '\0';
}

/* Rust's older names end with a hash: "core::fmt::write::h0123456789abcdef". */
static void cut_rust_hash(char *s)
{
	size_t n = strlen(s);
	if (n > 19 && strncmp(s + n - 19, "::h", 3) == 0 && strspn(s + n - 16, "0123456789abcdef") == 16)
		s[n - 19] = '\0';
}

/* A path of Rust's newer names: C IDENTIFIER, N KIND PATH IDENTIFIER, or I PATH ARGUMENTS, an identifier being
 * [s NUMBER _] LENGTH [_] BYTES. Returns what follows it; NULL: another kind of path. */
static const char *put_rust_path(const char *s, char *out, size_t size, int depth)
{
	char kind = *s++;
	if (depth > 32 || (kind != 'C' && kind != 'N' && kind != 'I'))
		return NULL;
	if (kind == 'I')
		return put_rust_path(s, out, size, depth + 1);
	if (kind == 'N' && !(isalpha((unsigned char)*s) && (s = put_rust_path(s + 1, out, size, depth + 1))))
		return NULL;
	if (*s == 's' && !((s = strchr(s, '_')) && s++))
		return NULL;
	uint64_t length;
	if (number_read(&s, INT32_MAX, &length) != 0 || length == 0)
		return NULL;
	s += *s == '_';
	if (strnlen(s, length) < length)
		return NULL;
	size_t n = strlen(out);
	snprintf(out + n, size - n, "%s%.*s", n ? "::" : "", (int)(length < 4096 ? length : 4096), s);
	return s + length;
}

/* gfortran's __MODULE_MOD_NAME, Intel's MODULE_mp_NAME_, flang's _QMMODULEPNAME and _QPNAME, NAME_ of all of them. */
static bool put_fortran(const char *name, char *out, size_t size)
{
	const char *part = NULL;
	size_t gap = 0, begin = 0, n = strlen(name);
	if (strncmp(name, "__", 2) == 0 && (part = strstr(name + 2, "_MOD_"))) {
		begin = 2;
		gap = 5;
	} else if (strncmp(name, "_QM", 3) == 0 && (part = strchr(name, 'P'))) {
		begin = 3;
		gap = 1;
	} else if (strncmp(name, "_QP", 3) == 0) {
		snprintf(out, size, "%s", name + 3);
		return true;
	} else if (n > 1 && name[n - 1] == '_' && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == n &&
	           name[0] != '_' && name[n - 2] != '_') {
		n--;
		if ((part = strstr(name, "_mp_")))
			gap = 4;
	} else {
		return false;
	}
	if (part)
		snprintf(out, size, "%.*s::%.*s", (int)(part - name - (ptrdiff_t)begin), name + begin,
		         (int)(name + n - part - (ptrdiff_t)gap), part + gap);
	else
		snprintf(out, size, "%.*s", (int)n, name);
	return true;
}

/* "__libc_start_main@@GLIBC_2.34" */
static void cut_version(char *s)
{
	s[strcspn(s, "@")] = '\0';
}

void symbol_readable(const char *name, char *out, size_t size)
{
	int status = -1;
	char *text = strncmp(name, "_Z", 2) == 0 ? __cxa_demangle(name, NULL, NULL, &status) : NULL;
	out[0] = '\0';
	if (text && status == 0) {
		cut_rust_hash(text);
		put_without_arguments(text, out, size);
	} else if (strncmp(name, "_R", 2) == 0 && !put_rust_path(name + 2, out, size, 0)) {
		out[0] = '\0';
	}
	free(text);
	if (!out[0] && !put_fortran(name, out, size))
		snprintf(out, size, "%s", name);
	cut_version(out);
}
