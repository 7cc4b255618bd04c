# crash
