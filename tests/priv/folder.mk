# priv - each process under its own account, as root in a namespace of its own
EXTRA_DIST += tests/priv
if HAVE_LIBSECCOMP
check_PROGRAMS += tests/priv/filtered
tests_priv_filtered_SOURCES = tests/priv/filtered.c
tests_priv_filtered_LDADD = $(SECCOMP_LIBS)
endif
# whose rights a process has is the same under a sanitizer
if !SANITIZE
if HAVE_PYTHON3
LONG_TESTS += tests/priv/run-priv
endif
endif
