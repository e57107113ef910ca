import java.util.Locale;

/** The kinds of rows that clients write (chaos/history/rows.py). */
enum Kind {
    BEGAN,
    ENDED,
    SEND,
    ACKED,
    REFUSED,
    UNKNOWN,
    TRANSACTION_BEGUN,
    TRANSACTION_ENDING,
    TRANSACTION_ENDED,
    ASSIGNED,
    REVOKED,
    POLLED,
    COMMIT_ASKED,
    COMMIT_ANSWERED;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
