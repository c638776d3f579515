"""Without a full screen: line mode, the headless printer, and the Agent Client Protocol."""
