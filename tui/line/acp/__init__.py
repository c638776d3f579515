"""spark as an agent of the Agent Client Protocol, for editors that speak it."""
