"""The two servers: communication with them, and the comparison of their replies."""
