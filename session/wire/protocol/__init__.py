"""Sans-I/O dialects of model servers: they write requests and read frames into one set of typed events."""
