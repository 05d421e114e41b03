/* SPDX-License-Identifier: BSD-3-Clause
 * network - what messages cost on a machine: LogGP, with other numbers for each distance, and one way out of each node
 *
 * LogGP (Alexandrov, Ionescu, Schauser and Scheiman, SPAA 1995), as LogGOPSim has it (Hoefler, Schneider and Lumsdaine,
 * HPDC 2010). A message of n bytes, from a rank that is free at t to one that waits for it:
 *
 *     sender     t .. t + o            its processor; then it goes on, if the message is eager
 *     its port   from t + o on, or when it is free; busy for g + n G
 *     network    L
 *     receiver   when the last byte is there, L + n G after the sender's port began; o of its processor
 *
 * So a message takes 2 o + L + n G. A port passes on one message after another in each direction; so does the way out
 * of a node, and that into it, which all of its ranks share (node_gap, node_byte). To oneself there is no latency, and
 * no port. A message of more than `eager` bytes waits at its sender until the receive is posted and a question and its
 * answer have crossed, o + L each.
 */
#ifndef SPOOR_INSIGHT_NETWORK_H
#define SPOOR_INSIGHT_NETWORK_H

#include "insight/algorithm.h"
#include "trace/read/seats.h"

/* ns; byte: for each byte. None is negative. */
struct network_level {
	double latency, overhead, gap, byte; /* L, o, g, G */
};

/* By enum seats_distance: in a socket, in a node, between nodes. */
#define NETWORK_LEVELS SEATS_UNKNOWN
#define NETWORK_RULES  4

struct network {
	struct network_level levels[NETWORK_LEVELS];
	uint64_t eager;             /* bytes; UINT64_MAX: all are */
	double node_gap, node_byte; /* of messages to other nodes; 0: there is no such limit */
	double computing;           /* how long computation takes there, relative to the trace's machine: 1 */
	/* Which algorithm makes an operation of up to so many bytes: the first rule that holds; else the usual one. */
	struct network_rule {
		uint64_t most;
		enum algorithm algorithm;
	} rules[COLLECTIVES][NETWORK_RULES];
	uint32_t rule_count[COLLECTIVES];
};

/* Nothing takes time, and collective operations wait as they must. */
extern const struct network network_ideal;
bool network_is_ideal(const struct network *n);
/* Rounded, from 0 to what no run takes. */
uint64_t network_ns(double ns);
/* bytes: as algorithm_usual. */
enum algorithm network_algorithm(const struct network *n, enum collective c, uint32_t size, uint64_t bytes);

/* The ports of a run. */
struct ports;
/* Returns NULL on no memory. The seats must outlive it. */
struct ports *ports_create(const struct network *n, const struct seats *seats);
void ports_destroy(struct ports *p);
const struct network_level *ports_level(const struct ports *p, uint32_t from, uint32_t to);
/* A message begins to leave at `at` (ns) or later. Returns when all of it is there; *left: when it has left. */
uint64_t ports_pass(struct ports *p, uint32_t from, uint32_t to, uint64_t bytes, uint64_t at, uint64_t *left);

#endif
