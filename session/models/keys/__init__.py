"""Keys of model servers: finding, fetching, storing and hiding them."""
