// Only carries the precompiled header; see torch_pch.h.
