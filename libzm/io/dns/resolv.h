/* resolv.h - a state of the C library's resolver for each thread
 *
 * glibc and the BSDs have res_ninit(3), res_nquery(3) and res_nclose(3); musl
 * has the structure alone, and resolv.c is what it lacks.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_DNS_RESOLV_H
#define ZM_IO_DNS_RESOLV_H

#include <netinet/in.h>
#include <resolv.h>

#if !HAVE_DECL_RES_NQUERY
/* An option of glibc: without it the AD bit is taken out of each answer. */
#ifndef RES_TRUSTAD
#define RES_TRUSTAD 0x04000000
#endif
/* Read the name servers of /etc/resolv.conf into a state of zeros; without one
 * it is that of this machine.  0; -1 never. */
int res_ninit(struct __res_state *state);
/* Give back what it holds. */
void res_nclose(struct __res_state *state);
/* Ask each server in turn, `retry` times, `retrans` seconds each.  Returns the
 * length of the answer, which has records; -1 with res_h_errno (netdb.h): what
 * answered last is in answer still. */
int res_nquery(struct __res_state *state, const char *name, int class,
    int type, unsigned char *answer, int size);
#endif

/* Does a state hold servers at IPv6 addresses as glibc's and musl's do: beside
 * the IPv4 list, whose row has the family 0? */
#if defined(__GLIBC__) || !HAVE_DECL_RES_NQUERY
#define RESOLV_HAS_SIX 1
#endif

#endif
