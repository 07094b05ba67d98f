// Compiled for the precompiled header that comes with it; see ephost_build_quickly.
