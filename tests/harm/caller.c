/* SPDX-License-Identifier: BSD-3-Clause
 * caller - a program that calls run() of a library that it is linked with, and nothing else
 */
int run(void);

int main(void)
{
	return run();
}
