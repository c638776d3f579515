"""Front ends without a full screen: line mode and the headless printer."""
