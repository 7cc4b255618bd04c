/* resolver.h - rows of statements.h: a resolver of our own
 *
 * SPDX-License-Identifier: ISC
 */
STATEMENT(TOP, "resolver", RESOLVER, resolver, "endpoint?", "",
    "resolver [ADDRESS:PORT] { trust-anchor FILE; forward ADDRESS...; ... }",
    "none: the name servers of resolv.conf(5), or dns",
    "A process of ours answers all questions about names, with a cache, and "
    "validates what it answers (DNSSEC): TLSA records then count for every "
    "domain that is signed (DANE), and an answer that somebody changed is "
    "never used.  It listens for DNS, by UDP and TCP, at a loopback address "
    "(127.0.0.25:53 unless said), where dig(1) may ask it, too; "
    "zmailer-dns(8).  It takes the place of the statement dns.",
    "resolver { cache 64M }")

STATEMENT(RESOLVER, "trust-anchor", NONE, resolver_anchor, "path", "",
    "trust-anchor FILE", "/usr/share/dns/root.key",
    "The keys that trust begins with: DS or DNSKEY records, in one file, which "
    "is used as it stands.  Unless this is said, those of the root are taken "
    "from the package dns-root-data, and kept by RFC 5011 in "
    "SPOOL/resolver/root.key.",
    "resolver { trust-anchor /etc/zmailer/anchor.key }")

STATEMENT(RESOLVER, "forward", NONE, resolver_forward, "endpoint+", "",
    "forward ADDRESS[:PORT]...", "none: it asks the root itself",
    "Questions go to these recursive servers.  What they answer is validated "
    "all the same, so they must give the signatures.",
    "resolver { forward 192.0.2.53 [2001:db8::53]:53 }")

STATEMENT(RESOLVER, "stub", NONE, resolver_stub, "word endpoint", "",
    "stub ZONE ADDRESS[:PORT]", "none",
    "Questions about ZONE, and about names in it, go to this server, which has "
    "the zone; may be said again.  A zone that is only inside of a network, "
    "or one of a test.",
    "resolver { stub corp.example.org 192.0.2.54 }")

ITEM(RESOLVER, "cache", item, cache_bytes, cache_bytes, "size:1M-64G",
    "cache SIZE", "", "16M",
    "Room for answers that are kept, two thirds of it for records.",
    "resolver { cache 64M }")
