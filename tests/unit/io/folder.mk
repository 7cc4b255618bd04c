# unit tests of io
