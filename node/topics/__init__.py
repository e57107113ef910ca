"""What a broker does about topics beside replicating them: creating and configuring.

auto_creation.py   topics that are made because somebody asked about them
configs.py         what each is set to, read from ZooKeeper; overrides.py: over which defaults
"""
