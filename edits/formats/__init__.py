"""One streaming parser per edit format: text in, typed events out, no files, sockets or clocks."""
