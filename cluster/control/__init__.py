"""How a supervisor is spoken to, from both ends: lines of JSON over a stream socket."""
