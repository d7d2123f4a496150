"""The small working project that ``ctxc init`` writes, as files."""
