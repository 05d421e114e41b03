/* SPDX-License-Identifier: BSD-3-Clause
 * format - snprintf and its kin: %d %i %u %x %c %s %% with width, precision, the flags 0 and -, and the lengths of
 * integers; the texts of errors
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct printed {
	char *at;
	size_t size, n; /* bytes there are; characters so far, which may be more */
};

static void put(struct printed *o, char c)
{
	if (o->n + 1 < o->size)
		o->at[o->n] = c;
	o->n++;
}

static void put_bytes(struct printed *o, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(o, s[i]);
}

static void put_many(struct printed *o, char c, size_t n, size_t most)
{
	for (; n < most; n++)
		put(o, c);
}

/* What is between % and the conversion. */
struct directive {
	bool zero, left, plain; /* plain: no precision */
	size_t width, precision;
	int longs; /* 0: int, 1: 64 bits, -1 and -2: short and char */
};

static const char *read_size(const char *f, size_t *size, va_list *ap)
{
	if (*f == '*') {
		int n = va_arg(*ap, int);
		*size = n > 0 ? (size_t)n : 0;
		return f + 1;
	}
	for (*size = 0; *f >= '0' && *f <= '9'; f++)
		*size = *size * 10 + (size_t)(*f - '0');
	return f;
}

static const char *read_directive(const char *f, struct directive *d, va_list *ap)
{
	*d = (struct directive){.plain = true};
	for (; *f == '0' || *f == '-'; f++) {
		d->zero |= *f == '0';
		d->left |= *f == '-';
	}
	f = read_size(f, &d->width, ap);
	if (*f == '.') {
		d->plain = false;
		f = read_size(f + 1, &d->precision, ap);
	}
	for (; *f == 'l' || *f == 'z' || *f == 'j' || *f == 't' || *f == 'h'; f++)
		d->longs = *f == 'h' ? d->longs - 1 : 1;
	return f;
}

static void put_padded(struct printed *o, const struct directive *d, const char *s, size_t n)
{
	if (!d->left)
		put_many(o, ' ', n, d->width);
	put_bytes(o, s, n);
	if (d->left)
		put_many(o, ' ', n, d->width);
}

static void put_number(struct printed *o, const struct directive *d, uint64_t value, unsigned base, bool negative)
{
	char digits[72], *p = digits + sizeof digits;
	size_t least = d->plain ? 1 : d->precision;

	if (d->plain && d->zero && !d->left)
		least = d->width > negative ? d->width - negative : 1;
	least = least < 64 ? least : 64;
	for (; value || (size_t)(digits + sizeof digits - p) < least; value /= base)
		*--p = "0123456789abcdef"[value % base];
	if (negative)
		*--p = '-';
	put_padded(o, d, p, (size_t)(digits + sizeof digits - p));
}

static void put_signed(struct printed *o, const struct directive *d, va_list *ap)
{
	int64_t value = d->longs > 0 ? va_arg(*ap, int64_t) : va_arg(*ap, int);

	if (d->longs < 0)
		value = d->longs == -1 ? (short)value : (signed char)value;
	put_number(o, d, value < 0 ? -(uint64_t)value : (uint64_t)value, 10, value < 0);
}

static void put_unsigned(struct printed *o, const struct directive *d, unsigned base, va_list *ap)
{
	uint64_t value = d->longs > 0 ? va_arg(*ap, uint64_t) : va_arg(*ap, unsigned);

	if (d->longs < 0)
		value = d->longs == -1 ? (unsigned short)value : (unsigned char)value;
	put_number(o, d, value, base, false);
}

static void put_string(struct printed *o, const struct directive *d, const char *s)
{
	size_t n = 0, most = d->plain ? SIZE_MAX : d->precision;

	s = s ? s : "(null)";
	while (n < most && s[n])
		n++;
	put_padded(o, d, s, n);
}

int vsnprintf(char *restrict to, size_t size, const char *restrict format, va_list arguments)
{
	struct printed o = {to, size, 0};
	struct directive d;
	va_list ap;

	va_copy(ap, arguments);
	for (const char *f = format; *f; f++) {
		if (*f != '%') {
			put(&o, *f);
			continue;
		}
		f = read_directive(f + 1, &d, &ap);
		if (*f == 'd' || *f == 'i')
			put_signed(&o, &d, &ap);
		else if (*f == 'u' || *f == 'x')
			put_unsigned(&o, &d, *f == 'x' ? 16 : 10, &ap);
		else if (*f == 's')
			put_string(&o, &d, va_arg(ap, const char *));
		else if (*f == 'c')
			put_padded(&o, &d, &(char){(char)va_arg(ap, int)}, 1);
		else if (*f == '%')
			put(&o, '%');
		else
			__builtin_trap(); /* tests/unit/own knows all that are used */
	}
	va_end(ap);
	if (size)
		to[o.n < size ? o.n : size - 1] = '\0';
	return (int)o.n;
}

int snprintf(char *restrict to, size_t size, const char *restrict format, ...)
{
	va_list ap;

	va_start(ap, format);
	int n = vsnprintf(to, size, format, ap);
	va_end(ap);
	return n;
}

int sprintf(char *restrict to, const char *restrict format, ...)
{
	va_list ap;

	va_start(ap, format);
	int n = vsnprintf(to, (size_t)INT32_MAX, format, ap);
	va_end(ap);
	return n;
}

/* What opening, writing, and mapping files may say. */
char *strerror(int error)
{
	static const struct {
		int error;
		char text[40];
	} texts[] = {{EPERM, "Operation not permitted"},
	             {ENOENT, "No such file or directory"},
	             {EINTR, "Interrupted system call"},
	             {EIO, "Input/output error"},
	             {ENOMEM, "Cannot allocate memory"},
	             {EACCES, "Permission denied"},
	             {EEXIST, "File exists"},
	             {ENODEV, "No such device"},
	             {ENOTDIR, "Not a directory"},
	             {EISDIR, "Is a directory"},
	             {EINVAL, "Invalid argument"},
	             {ENFILE, "Too many open files in system"},
	             {EMFILE, "Too many open files"},
	             {EFBIG, "File too large"},
	             {ENOSPC, "No space left on device"},
	             {EROFS, "Read-only file system"},
	             {ENAMETOOLONG, "File name too long"},
	             {ENOSYS, "Function not implemented"},
	             {ELOOP, "Too many levels of symbolic links"},
	             {EOVERFLOW, "Value too large for defined data type"},
	             {EOPNOTSUPP, "Operation not supported"},
	             {ESTALE, "Stale file handle"},
	             {EDQUOT, "Disk quota exceeded"}};
	static char other[24]; /* of any thread: the numbers differ, and no more */

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].error == error)
			return (char *)(uintptr_t)texts[i].text;
	snprintf(other, sizeof other, "error %d", error);
	return other;
}
