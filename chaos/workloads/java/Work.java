/** What a workload does. */
interface Work {
    /** Until it is stopped or has done what it was to; then every outcome is written. */
    void run() throws InterruptedException;
}
