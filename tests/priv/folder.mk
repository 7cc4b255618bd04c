# priv - each process under its own account, as root in a namespace of its own
EXTRA_DIST += tests/priv
if HAVE_PYTHON3
TESTS += tests/priv/run-priv
endif
