/* SPDX-License-Identifier: BSD-3-Clause
 * compat32 - the gate of 32-bit programs: nothing
 *
 * Such programs are not traced. But the loader would tell each of them that it cannot preload a 64-bit library.
 */
__attribute__((visibility("hidden"))) char spoor_nothing;
