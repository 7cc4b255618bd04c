/* areas.h - what `zmailer doctor` checks, a row each, in this order
 *
 * AREA(name, needs_conf, text): doctor_NAME; needs_conf: left out when the
 * configuration cannot be read.
 *
 * SPDX-License-Identifier: ISC
 */
AREA(config, false, "the configuration and the files that it names")
AREA(processes, true, "supervisor, smtpserver, router, scheduler")
AREA(standstill, true, "orders, a full disk, programs and machines that do "
    "not answer")
AREA(spool, true, "owners, modes, room, one file system, stale claims")
AREA(accounts, true, "users and groups of the daemons")
AREA(postmaster, true, "where its mail lies, at each of our domains")
AREA(certificates, true, "dates, keys, names")
AREA(ports, true, "listeners answer; with --outbound HOST, port 25 outwards")
AREA(dns, true, "our names, MX, reverse names of sending addresses")
AREA(auth, true, "with dns, of DOMAIN... or all of ours: SPF, DKIM, DMARC, "
    "DANE, MTA-STS, TLS reports")
AREA(clock, true, "the time, and who keeps it")
AREA(limits, true, "descriptors, processes, inotify")
AREA(kernel, false, "Landlock, system call filter, rename without replace")
