"""What a broker does about topics beside replicating them: creation on demand, waiting, settings."""
