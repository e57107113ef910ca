"""What a broker knows of the whole cluster: the controller's UpdateMetadata, kept as it came."""
