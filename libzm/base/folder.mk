# libzm/base - memory, strings, clock, errors; knows no mail
libzm_a_SOURCES += \
	libzm/base/ascii.h libzm/base/banned.h \
	libzm/base/mem.c libzm/base/mem.h \
	libzm/base/pid.c libzm/base/pid.h \
	libzm/base/odd.c libzm/base/odd.h \
	libzm/base/str.c libzm/base/str.h \
	libzm/base/err.c libzm/base/err.h \
	libzm/base/fd.c libzm/base/fd.h \
	libzm/base/clock.c libzm/base/clock.h \
	libzm/base/crc32c.c libzm/base/crc32c.h \
	libzm/base/siphash.c libzm/base/siphash.h \
	libzm/base/guess.c libzm/base/guess.h \
	libzm/base/buckets.c libzm/base/buckets.h \
	libzm/base/cache.c libzm/base/cache.h \
	libzm/base/title.c libzm/base/title.h \
	libzm/base/json.c libzm/base/json.h
