/* banned.h - functions that no file of this project calls
 *
 * Each has a safer replacement: str_addf for sprintf, strlcpy for strcpy,
 * slice_number or strtonum for atoi, clock_local for strftime.
 * Included last by every .c file of libzm and the programs.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BANNED_H
#define ZM_BANNED_H

/* fortified headers define some of them as macros where the compiler lacks
 * __builtin_va_arg_pack (clang) */
#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf gets
#pragma GCC poison atoi atol atoll strtok tmpnam tempnam mktemp

/* moments are formatted in one place, in the same way for all people */
#ifndef ZM_MAKES_MOMENTS
#pragma GCC poison strftime localtime localtime_r gmtime gmtime_r
#pragma GCC poison asctime asctime_r
#endif

#endif
