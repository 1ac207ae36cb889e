/*
 * vectors_connection.c - plays the conformance vectors through a connection (docs/rules.md, L3, L6)
 *
 * A thread of this process has the scheduler and serves it; what plays is its only client, and offers the handlers.
 */
#define THROUGH_A_CONNECTION 1
#include "vectors.c"
