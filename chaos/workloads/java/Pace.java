/** When the next record is due: at a steady rate, or at once. As pacing.py has it. */
final class Pace {
    private static final double LONGEST_WAIT_S = 0.1; // after which it looks whether all is to end
    private static final double SHORTEST_WAIT_S = 0.002; // below, records go out in small groups
    private static final double MOST_BEHIND_S = 0.2; // what a process that was paused makes up for

    private final Stopping stopping;
    private final double stepS;
    private double dueS = nowS();

    /** {@code perSecond} 0 means as fast as it goes. */
    Pace(double perSecond, Stopping stopping) {
        this.stopping = stopping;
        this.stepS = perSecond == 0 ? 0 : 1 / perSecond;
    }

    /** Wait for the next one's turn; false if all is to end first. */
    boolean comes() throws InterruptedException {
        while (!stopping.isAsked()) {
            double leftS = dueS - nowS();
            if (leftS <= SHORTEST_WAIT_S) {
                dueS += Math.max(stepS, -leftS - MOST_BEHIND_S);
                return true;
            }
            stopping.sleep(Math.min(leftS, LONGEST_WAIT_S));
        }
        return false;
    }

    private static double nowS() {
        return System.nanoTime() / 1e9;
    }
}
