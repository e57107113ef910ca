"""Which keys are served: of each room the list of its handlers, each with the parts it needs."""
