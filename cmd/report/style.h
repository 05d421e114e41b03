/* SPDX-License-Identifier: BSD-3-Clause
 * style - how the pages look: light and dark, narrow and wide, on paper
 */
#ifndef SPOOR_REPORT_STYLE_H
#define SPOOR_REPORT_STYLE_H

extern const char report_style[]; /* CSS */

#endif
