/** It was fenced, say, and is not to be replaced; the message is the error's name. */
final class ProducerOver extends RuntimeException {
    private static final long serialVersionUID = 1;

    ProducerOver(String why) {
        super(why);
    }
}
