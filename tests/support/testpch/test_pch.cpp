// The precompiled header needs a target of its own, and a target needs a source.
