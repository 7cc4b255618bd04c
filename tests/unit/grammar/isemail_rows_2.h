/* isemail_rows_2.h - an is_email test set, as rows; made by isemail_rows.py
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
ROW(2, 1, true, true, "first.last@iana.org")
ROW(2, 2, true, true,
	    "12345678901234567890123456789012345678901234567890123456"
	    "78901234@iana.org")
ROW(2, 3, false, false, "first.last@sub.do,com")
ROW(2, 4, true, true, "\"first\\\"last\"@iana.org")
ROW(2, 5, false, false, "first\\@last@iana.org")
ROW(2, 6, true, true, "\"first@last\"@iana.org")
ROW(2, 7, true, true, "\"first\\\\last\"@iana.org")
ROW(2, 8, true, true,
	    "x@x23456789.x23456789.x23456789.x23456789.x23456789.x234"
	    "56789.x23456789.x23456789.x23456789.x23456789.x23456789."
	    "x23456789.x23456789.x23456789.x23456789.x23456789.x23456"
	    "789.x23456789.x23456789.x23456789.x23456789.x23456789.x2"
	    "3456789.x23456789.x23456789.x2")
ROW(2, 9, true, true,
	    "12345678901234567890123456789012345678901234567890123456"
	    "78901@12345678901234567890123456789012345678901234567890"
	    "123456789.1234567890123456789012345678901234567890123456"
	    "7890123456789.123456789012345678901234567890123456789012"
	    "345678901234567890123.iana.org")
ROW(2, 10, true, true, "first.last@[12.34.56.78]")
ROW(2, 11, true, true, "first.last@[IPv6:::12.34.56.78]")
ROW(2, 12, true, true, "first.last@[IPv6:1111:2222:3333::4444:12.34.56.78]")
ROW(2, 13, true, true,
	    "first.last@[IPv6:1111:2222:3333:4444:5555:6666:12.34.56."
	    "78]")
ROW(2, 14, true, true, "first.last@[IPv6:::1111:2222:3333:4444:5555:6666]")
ROW(2, 15, true, true, "first.last@[IPv6:1111:2222:3333::4444:5555:6666]")
ROW(2, 16, true, true, "first.last@[IPv6:1111:2222:3333:4444:5555:6666::]")
ROW(2, 17, true, true,
	    "first.last@[IPv6:1111:2222:3333:4444:5555:6666:7777:8888"
	    "]")
ROW(2, 18, true, true,
	    "first.last@x23456789012345678901234567890123456789012345"
	    "678901234567890123.iana.org")
ROW(2, 19, true, true, "first.last@3com.com")
ROW(2, 20, true, true, "first.last@123.iana.org")
ROW(2, 21, false, false,
	    "12345678901234567890123456789012345678901234567890123456"
	    "7890@123456789012345678901234567890123456789012345678901"
	    "23456789.12345678901234567890123456789012345678901234567"
	    "890123456789.1234567890123456789012345678901234567890123"
	    "4567890123456789.12345.iana.org")
/* a local part alone is an address of ours */
ROW(2, 22, false, true, "first.last")
/* 64 bytes is what RFC 5321 makes everybody take; VERP and SRS are longer */
ROW(2, 23, true, true,
	    "12345678901234567890123456789012345678901234567890123456"
	    "789012345@iana.org")
ROW(2, 24, false, false, ".first.last@iana.org")
ROW(2, 25, false, false, "first.last.@iana.org")
ROW(2, 26, false, false, "first..last@iana.org")
ROW(2, 27, false, false, "\"first\"last\"@iana.org")
ROW(2, 28, true, true, "\"first\\last\"@iana.org")
ROW(2, 29, false, false, "\"\"\"@iana.org")
ROW(2, 30, false, false, "\"\\\"@iana.org")
ROW(2, 31, true, true, "\"\"@iana.org")
ROW(2, 32, false, false, "first\\\\@last@iana.org")
ROW(2, 33, false, false, "first.last@")
ROW(2, 34, false, false,
	    "x@x23456789.x23456789.x23456789.x23456789.x23456789.x234"
	    "56789.x23456789.x23456789.x23456789.x23456789.x23456789."
	    "x23456789.x23456789.x23456789.x23456789.x23456789.x23456"
	    "789.x23456789.x23456789.x23456789.x23456789.x23456789.x2"
	    "3456789.x23456789.x23456789.x23456")
ROW(2, 35, false, false, "first.last@[.12.34.56.78]")
ROW(2, 36, false, false, "first.last@[12.34.56.789]")
ROW(2, 37, false, false, "first.last@[::12.34.56.78]")
ROW(2, 38, false, false, "first.last@[IPv5:::12.34.56.78]")
/* '::' for one group is odd but clear */
ROW(2, 39, true, true,
	    "first.last@[IPv6:1111:2222:3333::4444:5555:12.34.56.78]")
ROW(2, 40, false, false,
	    "first.last@[IPv6:1111:2222:3333:4444:5555:12.34.56.78]")
ROW(2, 41, false, false,
	    "first.last@[IPv6:1111:2222:3333:4444:5555:6666:7777:12.3"
	    "4.56.78]")
ROW(2, 42, false, false,
	    "first.last@[IPv6:1111:2222:3333:4444:5555:6666:7777]")
ROW(2, 43, false, false,
	    "first.last@[IPv6:1111:2222:3333:4444:5555:6666:7777:8888"
	    ":9999]")
ROW(2, 44, false, false, "first.last@[IPv6:1111:2222::3333::4444:5555:6666]")
/* '::' for one group is odd but clear */
ROW(2, 45, true, true, "first.last@[IPv6:1111:2222:3333::4444:5555:6666:7777]")
ROW(2, 46, false, false, "first.last@[IPv6:1111:2222:333x::4444:5555]")
ROW(2, 47, false, false, "first.last@[IPv6:1111:2222:33333::4444:5555]")
ROW(2, 48, true, true, "first.last@example.123")
ROW(2, 49, true, true, "first.last@com")
ROW(2, 50, false, false, "first.last@-xample.com")
ROW(2, 51, false, false, "first.last@exampl-.com")
ROW(2, 52, false, false,
	    "first.last@x23456789012345678901234567890123456789012345"
	    "6789012345678901234.iana.org")
ROW(2, 53, true, true, "\"Abc\\@def\"@iana.org")
ROW(2, 54, true, true, "\"Fred\\ Bloggs\"@iana.org")
ROW(2, 55, true, true, "\"Joe.\\\\Blow\"@iana.org")
ROW(2, 56, true, true, "\"Abc@def\"@iana.org")
ROW(2, 57, true, true, "\"Fred Bloggs\"@iana.org")
ROW(2, 58, true, true, "user+mailbox@iana.org")
ROW(2, 59, true, true, "customer/department=shipping@iana.org")
ROW(2, 60, true, true, "$A12345@iana.org")
ROW(2, 61, true, true, "!def!xyz%abc@iana.org")
ROW(2, 62, true, true, "_somename@iana.org")
ROW(2, 63, true, true, "dclo@us.ibm.com")
ROW(2, 64, false, false, "abc\\@def@iana.org")
ROW(2, 65, false, false, "abc\\\\@iana.org")
ROW(2, 66, true, true, "peter.piper@iana.org")
ROW(2, 67, false, false, "Doug\\ \\\"Ace\\\"\\ Lovell@iana.org")
ROW(2, 68, true, true, "\"Doug \\\"Ace\\\" L.\"@iana.org")
ROW(2, 69, false, false, "abc@def@iana.org")
ROW(2, 70, false, false, "abc\\\\@def@iana.org")
ROW(2, 71, false, false, "abc\\@iana.org")
ROW(2, 72, false, false, "@iana.org")
ROW(2, 73, false, false, "doug@")
ROW(2, 74, false, false, "\"qu@iana.org")
ROW(2, 75, false, false, "ote\"@iana.org")
ROW(2, 76, false, false, ".dot@iana.org")
ROW(2, 77, false, false, "dot.@iana.org")
ROW(2, 78, false, false, "two..dot@iana.org")
ROW(2, 79, false, false, "\"Doug \"Ace\" L.\"@iana.org")
ROW(2, 80, false, false, "Doug\\ \\\"Ace\\\"\\ L\\.@iana.org")
ROW(2, 81, false, false, "hello world@iana.org")
ROW(2, 82, false, false, "gatsby@f.sc.ot.t.f.i.tzg.era.l.d.")
ROW(2, 83, true, true, "test@iana.org")
ROW(2, 84, true, true, "TEST@iana.org")
ROW(2, 85, true, true, "1234567890@iana.org")
ROW(2, 86, true, true, "test+test@iana.org")
ROW(2, 87, true, true, "test-test@iana.org")
ROW(2, 88, true, true, "t*est@iana.org")
ROW(2, 89, true, true, "+1~1+@iana.org")
ROW(2, 90, true, true, "{_test_}@iana.org")
ROW(2, 91, true, true, "\"[[ test ]]\"@iana.org")
ROW(2, 92, true, true, "test.test@iana.org")
ROW(2, 93, true, true, "\"test.test\"@iana.org")
ROW(2, 94, false, true, "test.\"test\"@iana.org")
ROW(2, 95, true, true, "\"test@test\"@iana.org")
ROW(2, 96, true, true, "test@123.123.123.x123")
ROW(2, 97, true, true, "test@123.123.123.123")
ROW(2, 98, true, true, "test@[123.123.123.123]")
ROW(2, 99, true, true, "test@example.iana.org")
ROW(2, 100, true, true, "test@example.example.iana.org")
/* a local part alone is an address of ours */
ROW(2, 101, false, true, "test.iana.org")
ROW(2, 102, false, false, "test.@iana.org")
ROW(2, 103, false, false, "test..test@iana.org")
ROW(2, 104, false, false, ".test@iana.org")
ROW(2, 105, false, false, "test@test@iana.org")
ROW(2, 106, false, false, "test@@iana.org")
ROW(2, 107, false, false, "-- test --@iana.org")
ROW(2, 108, false, false, "[test]@iana.org")
ROW(2, 109, true, true, "\"test\\test\"@iana.org")
ROW(2, 110, false, false, "\"test\"test\"@iana.org")
ROW(2, 111, false, false, "()[]\\;:,><@iana.org")
ROW(2, 112, false, false, "test@.")
ROW(2, 113, false, false, "test@example.")
ROW(2, 114, false, false, "test@.org")
ROW(2, 115, false, false,
	    "test@123456789012345678901234567890123456789012345678901"
	    "234567890123.1234567890123456789012345678901234567890123"
	    "45678901234567890123.12345678901234567890123456789012345"
	    "6789012345678901234567890123.123456789012345678901234567"
	    "890123456789012345678901234567890.com")
ROW(2, 116, true, true, "test@example")
ROW(2, 117, false, false, "test@[123.123.123.123")
ROW(2, 118, false, false, "test@123.123.123.123]")
/* a local part alone is an address of ours */
ROW(2, 119, false, true, "NotAnEmail")
ROW(2, 120, false, false, "@NotAnEmail")
ROW(2, 121, true, true, "\"test\\\\blah\"@iana.org")
ROW(2, 122, true, true, "\"test\\blah\"@iana.org")
/* control characters stay out */
ROW(2, 123, false, false, "\"test\\\015blah\"@iana.org")
/* but not in quotes: it would stay in the address */
ROW(2, 124, false, false, "\"test\015blah\"@iana.org")
ROW(2, 125, true, true, "\"test\\\"blah\"@iana.org")
ROW(2, 126, false, false, "\"test\"blah\"@iana.org")
ROW(2, 127, true, true, "customer/department@iana.org")
ROW(2, 128, true, true, "_Yosemite.Sam@iana.org")
ROW(2, 129, true, true, "~@iana.org")
ROW(2, 130, false, false, ".wooly@iana.org")
ROW(2, 131, false, false, "wo..oly@iana.org")
ROW(2, 132, false, false, "pootietang.@iana.org")
ROW(2, 133, false, false, ".@iana.org")
ROW(2, 134, true, true, "\"Austin@Powers\"@iana.org")
ROW(2, 135, true, true, "Ima.Fool@iana.org")
ROW(2, 136, true, true, "\"Ima.Fool\"@iana.org")
ROW(2, 137, true, true, "\"Ima Fool\"@iana.org")
ROW(2, 138, false, false, "Ima Fool@iana.org")
ROW(2, 139, false, false, "phil.h\\@\\@ck@haacked.com")
ROW(2, 140, false, true, "\"first\".\"last\"@iana.org")
ROW(2, 141, false, true, "\"first\".middle.\"last\"@iana.org")
ROW(2, 142, false, false, "\"first\\\\\"last\"@iana.org")
ROW(2, 143, false, true, "\"first\".last@iana.org")
ROW(2, 144, false, true, "first.\"last\"@iana.org")
ROW(2, 145, false, true, "\"first\".\"middle\".\"last\"@iana.org")
ROW(2, 146, false, true, "\"first.middle\".\"last\"@iana.org")
ROW(2, 147, true, true, "\"first.middle.last\"@iana.org")
ROW(2, 148, true, true, "\"first..last\"@iana.org")
ROW(2, 149, false, false, "foo@[\\1.2.3.4]")
ROW(2, 150, true, true, "\"first\\\\\\\"last\"@iana.org")
ROW(2, 151, false, true, "first.\"mid\\dle\".\"last\"@iana.org")
ROW(2, 152, false, true, "Test.\015\012 Folding.\015\012 Whitespace@iana.org")
ROW(2, 153, false, true, "first.\"\".last@iana.org")
ROW(2, 154, false, false, "first\\last@iana.org")
ROW(2, 155, false, false, "Abc\\@def@iana.org")
ROW(2, 156, false, false, "Fred\\ Bloggs@iana.org")
ROW(2, 157, false, false, "Joe.\\\\Blow@iana.org")
ROW(2, 158, false, false,
	    "first.last@[IPv6:1111:2222:3333:4444:5555:6666:12.34.567"
	    ".89]")
ROW(2, 159, false, false, "\"test\\\015\012 blah\"@iana.org")
ROW(2, 160, false, true, "\"test\015\012 blah\"@iana.org")
ROW(2, 161, false, false, "{^c\\@**Dog^}@cartoon.com")
ROW(2, 162, false, true, "(foo)cal(bar)@(baz)iamcal.com(quux)")
ROW(2, 163, false, true, "cal@iamcal(woo).(yay)com")
ROW(2, 164, false, true, "\"foo\"(yay)@(hoopla)[1.2.3.4]")
ROW(2, 165, false, true, "cal(woo(yay)hoopla)@iamcal.com")
ROW(2, 166, false, true, "cal(foo\\@bar)@iamcal.com")
ROW(2, 167, false, true, "cal(foo\\)bar)@iamcal.com")
ROW(2, 168, false, false, "cal(foo(bar)@iamcal.com")
ROW(2, 169, false, false, "cal(foo)bar)@iamcal.com")
ROW(2, 170, false, false, "cal(foo\\)@iamcal.com")
ROW(2, 171, false, true, "first().last@iana.org")
ROW(2, 172, false, true, "first.(\015\012 middle\015\012 )last@iana.org")
ROW(2, 173, false, false,
	    "first(12345678901234567890123456789012345678901234567890"
	    ")last@(1234567890123456789012345678901234567890123456789"
	    "01234567890123456789012345678901234567890123456789012345"
	    "67890123456789012345678901234567890123456789012345678901"
	    "23456789012345678901234567890123456789012345678901234567"
	    "890123456789012345678901234567890)iana.org")
ROW(2, 174, false, true,
	    "first(Welcome to\015\012 the (\"wonderful\" (!)) world\015"
	    "\012 of email)@iana.org")
ROW(2, 175, false, true, "pete(his account)@silly.test(his host)")
ROW(2, 176, false, true, "c@(Chris's host.)public.example")
ROW(2, 177, false, true, "jdoe@machine(comment).  example")
ROW(2, 178, false, true, "1234   @   local(blah)  .machine .example")
ROW(2, 179, false, false, "first(middle)last@iana.org")
ROW(2, 180, false, true, "first(abc.def).last@iana.org")
ROW(2, 181, false, true, "first(a\"bc.def).last@iana.org")
ROW(2, 182, false, true, "first.(\")middle.last(\")@iana.org")
ROW(2, 183, false, false,
	    "first(abc(\"def\".ghi).mno)middle(abc(\"def\".ghi).mno)."
	    "last@(abc(\"def\".ghi).mno)example(abc(\"def\".ghi).mno)"
	    ".(abc(\"def\".ghi).mno)com(abc(\"def\".ghi).mno)")
ROW(2, 184, false, true, "first(abc\\(def)@iana.org")
ROW(2, 185, false, true,
	    "first.last@iana(1234567890123456789012345678901234567890"
	    "123456789012345678901234567890).org")
ROW(2, 186, false, true, "a(a(b(c)d(e(f))g)h(i)j)@iana.org")
ROW(2, 187, false, false, "a(a(b(c)d(e(f))g)(h(i)j)@iana.org")
ROW(2, 188, true, true, "name.lastname@domain.com")
ROW(2, 189, false, false, ".@")
ROW(2, 190, true, true, "a@b")
ROW(2, 191, false, false, "@bar.com")
ROW(2, 192, false, false, "@@bar.com")
ROW(2, 193, true, true, "a@bar.com")
/* a local part alone is an address of ours */
ROW(2, 194, false, true, "aaa.com")
ROW(2, 195, false, false, "aaa@.com")
ROW(2, 196, false, false, "aaa@.123")
ROW(2, 197, true, true, "aaa@[123.123.123.123]")
ROW(2, 198, false, false, "aaa@[123.123.123.123]a")
ROW(2, 199, false, false, "aaa@[123.123.123.333]")
ROW(2, 200, false, false, "a@bar.com.")
ROW(2, 201, true, true, "a@bar")
ROW(2, 202, true, true, "a-b@bar.com")
ROW(2, 203, true, true, "+@b.c")
ROW(2, 204, true, true, "+@b.com")
ROW(2, 205, false, false, "a@-b.com")
ROW(2, 206, false, false, "a@b-.com")
ROW(2, 207, false, false, "-@..com")
ROW(2, 208, false, false, "-@a..com")
ROW(2, 209, true, true, "a@b.co-foo.uk")
ROW(2, 210, true, true, "\"hello my name is\"@stutter.com")
ROW(2, 211, true, true, "\"Test \\\"Fail\\\" Ing\"@iana.org")
ROW(2, 212, true, true, "valid@about.museum")
ROW(2, 213, false, false, "invalid@about.museum-")
ROW(2, 214, true, true, "shaitan@my-domain.thisisminekthx")
ROW(2, 215, false, false, "test@...........com")
ROW(2, 216, true, true, "foobar@192.168.0.1")
ROW(2, 217, true, true, "\"Joe\\\\Blow\"@iana.org")
ROW(2, 218, false, false, "Invalid \\\012 Folding \\\012 Whitespace@iana.org")
ROW(2, 219, false, true, "HM2Kinsists@(that comments are allowed)this.is.ok")
ROW(2, 220, true, true, "user%uucp!path@berkeley.edu")
ROW(2, 221, true, true, "\"first(last)\"@iana.org")
ROW(2, 222, false, true,
	    " \015\012 (\015\012 x \015\012 ) \015\012 first\015\012 "
	    "( \015\012 x\015\012 ) \015\012 .\015\012 ( \015\012 x) "
	    "\015\012 last \015\012 (  x \015\012 ) \015\012 @iana.or"
	    "g")
ROW(2, 223, false, true, "first.last @iana.org")
ROW(2, 224, false, true, "test. \015\012 \015\012 obs@syntax.com")
/* the field ended elsewhere: CR LF in it is a blank */
ROW(2, 225, false, true, "test.\015\012\015\012 obs@syntax.com")
/* control characters stay out */
ROW(2, 226, false, false, "\"Unicode NULL \\\000\"@char.com")
ROW(2, 227, false, false, "\"Unicode NULL \000\"@char.com")
ROW(2, 228, false, false, "Unicode NULL \\\000@char.com")
ROW(2, 229, true, true, "cdburgess+!#$%&'*-/=\?+_{}|~test@gmail.com")
/* '::' for one group is odd but clear */
ROW(2, 230, true, true, "first.last@[IPv6:::a2:a3:a4:b1:b2:b3:b4]")
/* '::' for one group is odd but clear */
ROW(2, 231, true, true, "first.last@[IPv6:a1:a2:a3:a4:b1:b2:b3::]")
ROW(2, 232, false, false, "first.last@[IPv6::]")
ROW(2, 233, true, true, "first.last@[IPv6:::]")
ROW(2, 234, false, false, "first.last@[IPv6::::]")
ROW(2, 235, false, false, "first.last@[IPv6::b4]")
ROW(2, 236, true, true, "first.last@[IPv6:::b4]")
ROW(2, 237, false, false, "first.last@[IPv6::::b4]")
ROW(2, 238, false, false, "first.last@[IPv6::b3:b4]")
ROW(2, 239, true, true, "first.last@[IPv6:::b3:b4]")
ROW(2, 240, false, false, "first.last@[IPv6::::b3:b4]")
ROW(2, 241, true, true, "first.last@[IPv6:a1::b4]")
ROW(2, 242, false, false, "first.last@[IPv6:a1:::b4]")
ROW(2, 243, false, false, "first.last@[IPv6:a1:]")
ROW(2, 244, true, true, "first.last@[IPv6:a1::]")
ROW(2, 245, false, false, "first.last@[IPv6:a1:::]")
ROW(2, 246, false, false, "first.last@[IPv6:a1:a2:]")
ROW(2, 247, true, true, "first.last@[IPv6:a1:a2::]")
ROW(2, 248, false, false, "first.last@[IPv6:a1:a2:::]")
ROW(2, 249, true, true, "first.last@[IPv6:0123:4567:89ab:cdef::]")
ROW(2, 250, true, true, "first.last@[IPv6:0123:4567:89ab:CDEF::]")
ROW(2, 251, true, true, "first.last@[IPv6:::a3:a4:b1:ffff:11.22.33.44]")
/* '::' for one group is odd but clear */
ROW(2, 252, true, true, "first.last@[IPv6:::a2:a3:a4:b1:ffff:11.22.33.44]")
ROW(2, 253, true, true, "first.last@[IPv6:a1:a2:a3:a4::11.22.33.44]")
/* '::' for one group is odd but clear */
ROW(2, 254, true, true, "first.last@[IPv6:a1:a2:a3:a4:b1::11.22.33.44]")
ROW(2, 255, false, false, "first.last@[IPv6::11.22.33.44]")
ROW(2, 256, false, false, "first.last@[IPv6::::11.22.33.44]")
ROW(2, 257, false, false, "first.last@[IPv6:a1:11.22.33.44]")
ROW(2, 258, true, true, "first.last@[IPv6:a1::11.22.33.44]")
ROW(2, 259, false, false, "first.last@[IPv6:a1:::11.22.33.44]")
ROW(2, 260, true, true, "first.last@[IPv6:a1:a2::11.22.33.44]")
ROW(2, 261, false, false, "first.last@[IPv6:a1:a2:::11.22.33.44]")
ROW(2, 262, true, true, "first.last@[IPv6:0123:4567:89ab:cdef::11.22.33.44]")
ROW(2, 263, false, false, "first.last@[IPv6:0123:4567:89ab:cdef::11.22.33.xx]")
ROW(2, 264, true, true, "first.last@[IPv6:0123:4567:89ab:CDEF::11.22.33.44]")
ROW(2, 265, false, false,
	    "first.last@[IPv6:0123:4567:89ab:CDEFF::11.22.33.44]")
ROW(2, 266, false, false, "first.last@[IPv6:a1::a4:b1::b4:11.22.33.44]")
ROW(2, 267, false, false, "first.last@[IPv6:a1::11.22.33]")
ROW(2, 268, false, false, "first.last@[IPv6:a1::11.22.33.44.55]")
ROW(2, 269, false, false, "first.last@[IPv6:a1::b211.22.33.44]")
ROW(2, 270, true, true, "first.last@[IPv6:a1::b2:11.22.33.44]")
ROW(2, 271, false, false, "first.last@[IPv6:a1::b2::11.22.33.44]")
ROW(2, 272, false, false, "first.last@[IPv6:a1::b3:]")
ROW(2, 273, false, false, "first.last@[IPv6::a2::b4]")
ROW(2, 274, false, false, "first.last@[IPv6:a1:a2:a3:a4:b1:b2:b3:]")
ROW(2, 275, false, false, "first.last@[IPv6::a2:a3:a4:b1:b2:b3:b4]")
ROW(2, 276, false, false, "first.last@[IPv6:a1:a2:a3:a4::b1:b2:b3:b4]")
ROW(2, 277, true, true, "test@test.com")
/* a LF in a field value is a blank */
ROW(2, 278, false, true, "test@example.com\012")
ROW(2, 279, true, true, "test@xn--example.com")
