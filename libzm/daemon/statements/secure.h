/* secure.h - rows of conf_statements.h: certificates, and who may log in
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "tls", NONE, tls, "",
    "certificate=path key=path for=domain min=choice:1.2,1.3 "
    "client-certificates=choice:ignore,ask,require ca=path",
    "tls certificate FILE key FILE [for NAME]; tls min 1.2|1.3; "
    "tls client-certificates ask|require [ca FILE]",
    "no certificate: STARTTLS is not offered; min 1.2; client certificates "
    "are not asked for",
    "certificate: a chain of PEM certificates, the server's own first, and "
    "its private key (RSA, ECDSA or Ed25519, no pass phrase).  Several rows: "
    "clients that ask for a name (SNI) see the row for NAME (.example.org: all "
    "below it), or the one whose certificate has it; all others the first.  "
    "Rows for the same names with keys of different kinds stand beside each "
    "other.  Changed files are "
    "taken over within seconds, without a restart; a pair that does not fit "
    "is refused and the old one stays.  Keys are read by a process of their "
    "own and nobody else; they may be readable for root alone.  min: the "
    "oldest version of TLS that is spoken.  client-certificates: ask for "
    "one and note what it is worth, or require one that an authority in the "
    "ca file (default: the system's) has signed.",
    "tls certificate /etc/zmailer/mx.pem key /etc/zmailer/mx.key\n"
    "tls certificate /etc/zmailer/b.pem key /etc/zmailer/b.key for b.example\n"
    "tls min 1.2\n"
    "tls client-certificates ask ca /etc/zmailer/partners.pem")
