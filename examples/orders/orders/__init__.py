"""A shop's orders: each is written to the shop's database, and told to the rest of the company."""
