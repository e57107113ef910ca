/** Where a record lies; the partition by its name, "orders-3". */
record Place(String partition, long offset) {
}
