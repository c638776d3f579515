"""Tools of Model Context Protocol servers, which the user configured: off until then."""
