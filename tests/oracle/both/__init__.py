"""The two servers: talking to them, and what of their replies is compared."""
