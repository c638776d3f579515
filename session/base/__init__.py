"""The ground of a session: text made safe, events, tasks, closing, and the files that spark keeps."""
