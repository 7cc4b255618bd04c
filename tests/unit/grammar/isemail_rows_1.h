/* isemail_rows_1.h - an is_email test set, as rows; made by isemail_rows.py
 *
 * ROW(set, id, smtp, header, address)
 *   smtp    whether path_parse takes it between < and >
 *   header  whether header_address finds exactly one address in it
 * A comment in front of a row: where that differs from the category of the
 * set, and why.
 *
 * The addresses: Copyright (c) 2016, Dominic Sayers.  All rights reserved.
 * See isemail.LICENSE.md (BSD 3-Clause).
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
ROW(1, 1, false, false, "")
/* a local part alone is an address of ours */
ROW(1, 2, false, true, "test")
ROW(1, 3, false, false, "@")
ROW(1, 4, false, false, "test@")
ROW(1, 5, true, true, "test@io")
ROW(1, 6, false, false, "@io")
ROW(1, 7, false, false, "@iana.org")
ROW(1, 8, true, true, "test@iana.org")
ROW(1, 9, true, true, "test@nominet.org.uk")
ROW(1, 10, true, true, "test@about.museum")
ROW(1, 11, true, true, "a@iana.org")
ROW(1, 12, true, true, "test@e.com")
ROW(1, 13, true, true, "test@iana.a")
ROW(1, 14, true, true, "test.test@iana.org")
ROW(1, 15, false, false, ".test@iana.org")
ROW(1, 16, false, false, "test.@iana.org")
ROW(1, 17, false, false, "test..iana.org")
/* a local part alone is an address of ours */
ROW(1, 18, false, true, "test_exa-mple.com")
ROW(1, 19, true, true, "!#$%&`*+/=\?^`{|}~@iana.org")
ROW(1, 20, false, false, "test\\@test@iana.org")
ROW(1, 21, true, true, "123@iana.org")
ROW(1, 22, true, true, "test@123.com")
ROW(1, 23, true, true, "test@iana.123")
ROW(1, 24, true, true, "test@255.255.255.255")
ROW(1, 25, true, true,
	    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcd"
	    "efghiklm@iana.org")
/* 64 bytes is what RFC 5321 makes everybody take; VERP and SRS are longer */
ROW(1, 26, true, true,
	    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcd"
	    "efghiklmn@iana.org")
ROW(1, 27, true, true,
	    "test@abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxy"
	    "zabcdefghikl.com")
ROW(1, 28, false, false,
	    "test@abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxy"
	    "zabcdefghiklm.com")
ROW(1, 29, true, true, "test@mason-dixon.com")
ROW(1, 30, false, false, "test@-iana.org")
ROW(1, 31, false, false, "test@iana-.com")
ROW(1, 32, true, true, "test@c--n.com")
ROW(1, 33, true, true, "test@iana.co-uk")
ROW(1, 34, false, false, "test@.iana.org")
ROW(1, 35, false, false, "test@iana.org.")
ROW(1, 36, false, false, "test@iana..com")
ROW(1, 37, true, true,
	    "a@a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a."
	    "b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c."
	    "d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e."
	    "f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g."
	    "h.i.j.k.l.m.n.o.p.q.r.s.t.u.v")
ROW(1, 38, true, true,
	    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcd"
	    "efghiklm@abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstu"
	    "vwxyzabcdefghikl.abcdefghijklmnopqrstuvwxyzabcdefghijklm"
	    "nopqrstuvwxyzabcdefghikl.abcdefghijklmnopqrstuvwxyzabcde"
	    "fghijklmnopqrstuvwxyzabcdefghi")
ROW(1, 39, false, false,
	    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcd"
	    "efghiklm@abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstu"
	    "vwxyzabcdefghikl.abcdefghijklmnopqrstuvwxyzabcdefghijklm"
	    "nopqrstuvwxyzabcdefghikl.abcdefghijklmnopqrstuvwxyzabcde"
	    "fghijklmnopqrstuvwxyzabcdefghij")
ROW(1, 40, false, false,
	    "a@abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzab"
	    "cdefghikl.abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrst"
	    "uvwxyzabcdefghikl.abcdefghijklmnopqrstuvwxyzabcdefghijkl"
	    "mnopqrstuvwxyzabcdefghikl.abcdefghijklmnopqrstuvwxyzabcd"
	    "efghijklmnopqrstuvwxyzabcdefg.hij")
ROW(1, 41, false, false,
	    "a@abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzab"
	    "cdefghikl.abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrst"
	    "uvwxyzabcdefghikl.abcdefghijklmnopqrstuvwxyzabcdefghijkl"
	    "mnopqrstuvwxyzabcdefghikl.abcdefghijklmnopqrstuvwxyzabcd"
	    "efghijklmnopqrstuvwxyzabcdefg.hijk")
ROW(1, 42, true, true, "\"test\"@iana.org")
ROW(1, 43, true, true, "\"\"@iana.org")
ROW(1, 44, false, false, "\"\"\"@iana.org")
ROW(1, 45, true, true, "\"\\a\"@iana.org")
ROW(1, 46, true, true, "\"\\\"\"@iana.org")
ROW(1, 47, false, false, "\"\\\"@iana.org")
ROW(1, 48, true, true, "\"\\\\\"@iana.org")
ROW(1, 49, false, false, "test\"@iana.org")
ROW(1, 50, false, false, "\"test@iana.org")
ROW(1, 51, false, false, "\"test\"test@iana.org")
ROW(1, 52, false, false, "test\"text\"@iana.org")
ROW(1, 53, false, false, "\"test\"\"test\"@iana.org")
ROW(1, 54, false, true, "\"test\".\"test\"@iana.org")
ROW(1, 55, true, true, "\"test\\ test\"@iana.org")
ROW(1, 56, false, true, "\"test\".test@iana.org")
ROW(1, 57, false, false, "\"test\000\"@iana.org")
/* control characters stay out */
ROW(1, 58, false, false, "\"test\\\000\"@iana.org")
/* 64 bytes is what RFC 5321 makes everybody take; VERP and SRS are longer */
ROW(1, 59, true, true,
	    "\"abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz "
	    "abcdefghj\"@iana.org")
/* 64 bytes is what RFC 5321 makes everybody take; VERP and SRS are longer */
ROW(1, 60, true, true,
	    "\"abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz "
	    "abcdefg\\h\"@iana.org")
ROW(1, 61, true, true, "test@[255.255.255.255]")
ROW(1, 62, false, false, "test@a[255.255.255.255]")
ROW(1, 63, false, false, "test@[255.255.255]")
ROW(1, 64, false, false, "test@[255.255.255.255.255]")
ROW(1, 65, false, false, "test@[255.255.255.256]")
ROW(1, 66, false, false, "test@[1111:2222:3333:4444:5555:6666:7777:8888]")
ROW(1, 67, false, false, "test@[IPv6:1111:2222:3333:4444:5555:6666:7777]")
ROW(1, 68, true, true, "test@[IPv6:1111:2222:3333:4444:5555:6666:7777:8888]")
ROW(1, 69, false, false,
	    "test@[IPv6:1111:2222:3333:4444:5555:6666:7777:8888:9999]"
	    "")
ROW(1, 70, false, false, "test@[IPv6:1111:2222:3333:4444:5555:6666:7777:888G]")
/* '::' for one group is odd but clear */
ROW(1, 71, true, true, "test@[IPv6:1111:2222:3333:4444:5555:6666::8888]")
ROW(1, 72, true, true, "test@[IPv6:1111:2222:3333:4444:5555::8888]")
ROW(1, 73, false, false,
	    "test@[IPv6:1111:2222:3333:4444:5555:6666::7777:8888]")
ROW(1, 74, false, false, "test@[IPv6::3333:4444:5555:6666:7777:8888]")
ROW(1, 75, true, true, "test@[IPv6:::3333:4444:5555:6666:7777:8888]")
ROW(1, 76, false, false, "test@[IPv6:1111::4444:5555::8888]")
ROW(1, 77, true, true, "test@[IPv6:::]")
ROW(1, 78, false, false,
	    "test@[IPv6:1111:2222:3333:4444:5555:255.255.255.255]")
ROW(1, 79, true, true,
	    "test@[IPv6:1111:2222:3333:4444:5555:6666:255.255.255.255"
	    "]")
ROW(1, 80, false, false,
	    "test@[IPv6:1111:2222:3333:4444:5555:6666:7777:255.255.25"
	    "5.255]")
ROW(1, 81, true, true, "test@[IPv6:1111:2222:3333:4444::255.255.255.255]")
ROW(1, 82, false, false,
	    "test@[IPv6:1111:2222:3333:4444:5555:6666::255.255.255.25"
	    "5]")
ROW(1, 83, false, false, "test@[IPv6:1111:2222:3333:4444:::255.255.255.255]")
ROW(1, 84, false, false, "test@[IPv6::255.255.255.255]")
ROW(1, 85, false, true, " test @iana.org")
ROW(1, 86, false, true, "test@ iana .com")
ROW(1, 87, false, true, "test . test@iana.org")
ROW(1, 88, false, true, "\015\012 test@iana.org")
ROW(1, 89, false, true, "\015\012 \015\012 test@iana.org")
ROW(1, 90, false, true, "(comment)test@iana.org")
ROW(1, 91, false, false, "((comment)test@iana.org")
ROW(1, 92, false, true, "(comment(comment))test@iana.org")
ROW(1, 93, false, true, "test@(comment)iana.org")
ROW(1, 94, false, false, "test(comment)test@iana.org")
ROW(1, 95, false, true, "test@(comment)[255.255.255.255]")
ROW(1, 96, false, true,
	    "(comment)abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstu"
	    "vwxyzabcdefghiklm@iana.org")
ROW(1, 97, false, true,
	    "test@(comment)abcdefghijklmnopqrstuvwxyzabcdefghijklmnop"
	    "qrstuvwxyzabcdefghikl.com")
ROW(1, 98, false, true,
	    "(comment)test@abcdefghijklmnopqrstuvwxyzabcdefghijklmnop"
	    "qrstuvwxyzabcdefghik.abcdefghijklmnopqrstuvwxyzabcdefghi"
	    "jklmnopqrstuvwxyzabcdefghik.abcdefghijklmnopqrstuvwxyzab"
	    "cdefghijklmnopqrstuvwxyzabcdefghijk.abcdefghijklmnopqrst"
	    "uvwxyzabcdefghijk.abcdefghijklmnopqrstu")
/* a LF in a field value is a blank */
ROW(1, 99, false, true, "test@iana.org\012")
ROW(1, 100, true, true, "test@xn--hxajbheg2az3al.xn--jxalpdlp")
ROW(1, 101, true, true, "xn--test@iana.org")
ROW(1, 102, false, false, "test@iana.org-")
ROW(1, 103, false, false, "\"test@iana.org")
ROW(1, 104, false, false, "(test@iana.org")
ROW(1, 105, false, false, "test@(iana.org")
ROW(1, 106, false, false, "test@[1.2.3.4")
ROW(1, 107, false, false, "\"test\\\"@iana.org")
ROW(1, 108, false, false, "(comment\\)test@iana.org")
ROW(1, 109, false, false, "test@iana.org(comment\\)")
ROW(1, 110, false, false, "test@iana.org(comment\\")
ROW(1, 112, false, false, "test@[RFC-5322-domain-literal]")
ROW(1, 113, false, false, "test@[RFC-5322]-domain-literal]")
ROW(1, 114, false, false, "test@[RFC-5322-[domain-literal]")
ROW(1, 115, false, false, "test@[RFC-5322-\\\007-domain-literal]")
ROW(1, 116, false, false, "test@[RFC-5322-\\\011-domain-literal]")
ROW(1, 117, false, false, "test@[RFC-5322-\\]-domain-literal]")
ROW(1, 118, false, false, "test@[RFC-5322-domain-literal\\]")
ROW(1, 119, false, false, "test@[RFC-5322-domain-literal\\")
ROW(1, 120, false, false, "test@[RFC 5322 domain literal]")
ROW(1, 121, false, false, "test@[RFC-5322-domain-literal] (comment)")
ROW(1, 122, false, false, "\177@iana.org")
ROW(1, 123, false, false, "test@\177.org")
/* control characters stay out */
ROW(1, 124, false, false, "\"\177\"@iana.org")
/* control characters stay out */
ROW(1, 125, false, false, "\"\\\177\"@iana.org")
ROW(1, 126, false, true, "(\177)test@iana.org")
/* a CR in a field value is a blank */
ROW(1, 127, false, true, "test@iana.org\015")
/* a CR in a field value is a blank */
ROW(1, 128, false, true, "\015test@iana.org")
/* but not in quotes: it would stay in the address */
ROW(1, 129, false, false, "\"\015test\"@iana.org")
/* a CR in a field value is a blank */
ROW(1, 130, false, true, "(\015)test@iana.org")
/* a CR in a field value is a blank */
ROW(1, 131, false, true, "test@iana.org(\015)")
/* a LF in a field value is a blank */
ROW(1, 132, false, true, "\012test@iana.org")
/* a fold inside quotes is dropped */
ROW(1, 133, false, true, "\"\012\"@iana.org")
/* control characters stay out */
ROW(1, 134, false, false, "\"\\\012\"@iana.org")
/* a LF in a field value is a blank */
ROW(1, 135, false, true, "(\012)test@iana.org")
ROW(1, 136, false, false, "\007@iana.org")
ROW(1, 137, false, false, "test@\007.org")
/* control characters stay out */
ROW(1, 138, false, false, "\"\007\"@iana.org")
/* control characters stay out */
ROW(1, 139, false, false, "\"\\\007\"@iana.org")
ROW(1, 140, false, true, "(\007)test@iana.org")
/* the field ended elsewhere: CR LF in it is a blank */
ROW(1, 141, false, true, "\015\012test@iana.org")
/* the field ended elsewhere: CR LF in it is a blank */
ROW(1, 142, false, true, "\015\012 \015\012test@iana.org")
/* the field ended elsewhere: CR LF in it is a blank */
ROW(1, 143, false, true, " \015\012test@iana.org")
ROW(1, 144, false, true, " \015\012 test@iana.org")
/* the field ended elsewhere: CR LF in it is a blank */
ROW(1, 145, false, true, " \015\012 \015\012test@iana.org")
/* the field ended elsewhere: CR LF in it is a blank */
ROW(1, 146, false, true, " \015\012\015\012test@iana.org")
/* the field ended elsewhere: CR LF in it is a blank */
ROW(1, 147, false, true, " \015\012\015\012 test@iana.org")
ROW(1, 148, false, true, "test@iana.org\015\012 ")
ROW(1, 149, false, true, "test@iana.org\015\012 \015\012 ")
/* the field ended elsewhere: CR LF in it is a blank */
ROW(1, 150, false, true, "test@iana.org\015\012")
/* the field ended elsewhere: CR LF in it is a blank */
ROW(1, 151, false, true, "test@iana.org\015\012 \015\012")
/* the field ended elsewhere: CR LF in it is a blank */
ROW(1, 152, false, true, "test@iana.org \015\012")
ROW(1, 153, false, true, "test@iana.org \015\012 ")
/* the field ended elsewhere: CR LF in it is a blank */
ROW(1, 154, false, true, "test@iana.org \015\012 \015\012")
/* the field ended elsewhere: CR LF in it is a blank */
ROW(1, 155, false, true, "test@iana.org \015\012\015\012")
/* the field ended elsewhere: CR LF in it is a blank */
ROW(1, 156, false, true, "test@iana.org \015\012\015\012 ")
ROW(1, 157, false, true, " test@iana.org")
ROW(1, 158, false, true, "test@iana.org ")
ROW(1, 159, false, false, "test@[IPv6:1::2:]")
/* RFC 6532: a backslash before any character */
ROW(1, 160, false, true, "\"test\\\302\251\"@iana.org")
ROW(1, 161, false, false, "test@iana/icann.org")
ROW(1, 165, false, true, "test.(comment)test@iana.org")
ROW(1, 166, true, true, "test@org")
ROW(1, 167, true, true, "test@test.com")
ROW(1, 168, true, true, "test@nic.no")
