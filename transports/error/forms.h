/* forms.h - why a recipient cannot be served, one row a form
 *
 * FORM(name, status, words): the host of a recipient of channel error names
 * a form (doc/INTERNALS.md section 7).  Status codes are RFC 3463's.
 *
 * SPDX-License-Identifier: ISC
 */
FORM("nouser", "5.1.1", "no such user here")
FORM("badaddress", "5.1.3", "this is not an address")
FORM("baddomain", "5.1.2", "this is not a domain")
FORM("aliasloop", "5.4.6", "the alias refers to itself")
FORM("expansion", "5.5.3", "the alias has too many recipients")
FORM("loopexceeded", "5.4.6", "too many Received fields: a mail loop")
FORM("headerlimit", "5.3.4", "the header is too large")
FORM("norecipients", "5.5.1", "no recipients were given")
FORM("emptylist", "5.2.4", "the list has no members")
FORM("returnaddress", "5.1.1", "this return address was not made here, was "
    "changed, or is too old")
FORM("unresolvable", "5.4.4", "no route to this domain")
