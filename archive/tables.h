/* SPDX-License-Identifier: BSD-3-Clause
 * tables - the tables of an index, as SQL (doc/index.md)
 */
#ifndef SPOOR_TABLES_H
#define SPOOR_TABLES_H

/* To be executed in this order in an empty database. */
extern const char tables_sql[], tables_views[], tables_triggers[];

#endif
