# nodes - the process that answers other nodes of a cluster, and asks them
# order: answer < exchange
noinst_LIBRARIES += nodes/libnodes.a
nodes_libnodes_a_SOURCES = \
	nodes/answer/answering.c nodes/answer/answering.h \
	nodes/exchange/calls.c nodes/exchange/arriving.c \
	nodes/exchange/exchange.c nodes/exchange/exchange.h \
	nodes/exchange/transit.c nodes/exchange/transit.h

pkglibexec_PROGRAMS += nodes/nodes
nodes_nodes_SOURCES = nodes/nodes.c
nodes_nodes_LDADD = nodes/libnodes.a $(ZM_LIBS)
