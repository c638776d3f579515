"""Drawing: rows of styled text, code colours, palettes and the frame pacer."""
