"""What every process of a cluster stands on: its program, its ports, its Java, its end."""
