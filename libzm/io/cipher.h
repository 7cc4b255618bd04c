/* cipher.h - what encrypts a connection, as streams and peers see it
 *
 * tls/link.c is one for a stream, tls/client.c one for a peer.  The tables of
 * functions are in stream.h and peer.h, so this layer needs no TLS.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_CIPHER_H
#define ZM_IO_CIPHER_H

enum cipher_step {
	CIPHER_DONE,
	CIPHER_WANT_READ, CIPHER_WANT_WRITE,	/* call again when the socket
						 * is ready for it */
	CIPHER_EOF,			/* the other side closed */
	CIPHER_BROKEN			/* err says why */
};

#endif
