/* SPDX-License-Identifier: BSD-3-Clause
 * limits - what setrlimit sets is read back; and quiet: errno and cancellation stay
 */
#include "trace/base/limits.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/unit/tap.h"
#include "trace/base/quiet.h"

int main(void)
{
	struct limits l;
	struct rlimit old, low;
	errno = EXDEV;
	limits_read(&l);
	ok(errno == EXDEV, "errno stays");
	getrlimit(RLIMIT_FSIZE, &old);
	ok(l.file == (old.rlim_cur == RLIM_INFINITY ? UINT64_MAX : old.rlim_cur), "files: what the process began with");
	low = (struct rlimit){.rlim_cur = 4097, .rlim_max = old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &low);
	limits_read(&l);
	ok(l.file == 4097, "files: 4097 bytes");
	setrlimit(RLIMIT_FSIZE, &old);
	getrlimit(RLIMIT_AS, &old);
	low = (struct rlimit){.rlim_cur = UINT64_C(1) << 33, .rlim_max = old.rlim_max};
	setrlimit(RLIMIT_AS, &low);
	limits_read(&l);
	uint64_t before = l.memory;
	struct rlimit set;
	getrlimit(RLIMIT_AS, &set);
	if (set.rlim_cur != low.rlim_cur) {
		skip("memory: what is left of 8 GiB", "qemu keeps no limit of the address space");
	} else {
		ok(before < UINT64_C(1) << 33 && before > UINT64_C(1) << 30, "memory: what is left of 8 GiB");
		void *p = mmap(NULL, 1 << 24, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		limits_read(&l);
		ok(p != MAP_FAILED && before - l.memory >= 1 << 24, "what is mapped is not left");
	}
	setrlimit(RLIMIT_AS, &old);

	int kind;
	errno = EDOM;
	struct quiet quiet = quiet_begin();
	errno = ENOENT;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &kind);
	ok(kind == PTHREAD_CANCEL_DISABLE, "quiet: the thread cannot be cancelled");
	quiet_end(quiet);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &kind);
	ok(errno == EDOM && kind == PTHREAD_CANCEL_ENABLE, "and all is as before then");
	return tap_end();
}
