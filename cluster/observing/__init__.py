"""What is known of a cluster from outside: ZooKeeper's word, each broker's, and the journals."""
