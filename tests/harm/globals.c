/* SPDX-License-Identifier: BSD-3-Clause
 * globals - a valid C program whose variables have names that C does not reserve: libc has them, too
 */
#include <stdio.h>

#ifdef NUMBERS
double environ[4] = {1.5, 2.5, 3.5, 4.5};
#define SUM (environ[0] + environ[3])
#else
int environ = 7;
#define SUM environ
#endif
int _r_debug = 10; /* reserved, and used all the same */
char _dl_debug_addr[16] = "no address";

int main(void)
{
	printf("%g %d %s\n", (double)SUM, _r_debug, _dl_debug_addr);
	return 4;
}
