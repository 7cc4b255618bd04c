libzm_a_SOURCES +=
