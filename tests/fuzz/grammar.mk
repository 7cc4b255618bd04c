# fuzz targets of libzm/grammar.  A new target is five lines like these:
#
# if FUZZ
# FUZZ_LINK = -fsanitize=fuzzer
# ...
# noinst_PROGRAMS/check_PROGRAMS += tests/fuzz/fuzz-path
# tests_fuzz_fuzz_path_SOURCES = tests/fuzz/fuzz_path.c $(FUZZ_MAIN)
# tests_fuzz_fuzz_path_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
# tests_fuzz_fuzz_path_LDADD = $(ZM_LIBS)
if FUZZ
FUZZ_MAIN =
FUZZ_LINK = -fsanitize=fuzzer
else
FUZZ_MAIN = tests/fuzz/replay.c
FUZZ_LINK =
endif
