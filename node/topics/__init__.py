"""What a broker does about topics beside replicating them: creating, waiting, configuring."""
