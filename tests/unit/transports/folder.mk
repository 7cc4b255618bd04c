# unit tests of transports
