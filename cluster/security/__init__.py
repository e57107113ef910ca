"""What a cluster that is launched secure is secured with, and a client's way into it."""
