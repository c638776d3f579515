"""Sans-I/O dialects of model servers: requests out, frames in, the same typed events from each."""
