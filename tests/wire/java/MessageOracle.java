// Reads and writes messages with Kafka's own classes, for test_messages_against_java.py.
//
// stdin, repeated until it ends: int, count of cases; per case a name (UTF), the version to read,
// -1 for a message of defaults (short), the version to write (short), and the bytes with their
// length (int).
// stdout, per case: how many bytes were left unread (int), then 0 and a reason (UTF), or 1, the
// bytes written and their JSON form, each with its length (int). Unread is -1 where reading failed;
// what was read may still be refused when it is to be written. All of a batch is read before its answer is written, so that neither side waits
// for the other. The name HeaderVersions, with an API key and a version in place of the two
// versions, asks for the header versions of that request and response: [2,1]. The name ErrorResponse,
// with the error's code in place of the version to write, a space and an API key behind the name, asks
// how the request in the bytes is answered when all of it fails; what is never answered is refused.

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;

public class MessageOracle {
    private static final List<String> CLASSES = List.of(
        "org.apache.kafka.common.message.%sData",
        "org.apache.kafka.common.message.%s",
        "org.apache.kafka.coordinator.group.generated.%s",
        "org.apache.kafka.coordinator.transaction.generated.%s");

    private static final String HEADER_VERSIONS = "HeaderVersions";

    private static final String ERROR_RESPONSE = "ErrorResponse ";

    private static final Map<String, Class<?>> known = new HashMap<>();

    public static void main(String[] args) throws Exception {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));
        while (true) {
            int count;
            try {
                count = in.readInt();
            } catch (EOFException end) {
                return;
            }
            ByteArrayOutputStream answers = new ByteArrayOutputStream();
            for (int i = 0; i < count; i++) {
                answer(in, new DataOutputStream(answers));
            }
            out.write(answers.toByteArray());
            out.flush();
        }
    }

    private static void answer(DataInputStream in, DataOutputStream out) throws Exception {
        String name = in.readUTF();
        short readVersion = in.readShort();
        short writeVersion = in.readShort();
        byte[] data = in.readNBytes(in.readInt());
        int unread = -1;
        byte[] written;
        byte[] json;
        try {
            if (name.equals(HEADER_VERSIONS)) {
                written = new byte[0];
                json = headerVersions(readVersion, writeVersion).getBytes(StandardCharsets.UTF_8);
            } else if (name.startsWith(ERROR_RESPONSE)) {
                ApiKeys api = ApiKeys.forId(Integer.parseInt(name.substring(ERROR_RESPONSE.length())));
                Message message = errorResponse(api, readVersion, writeVersion, data);
                unread = 0;
                written = write(message, readVersion);
                json = json(message, readVersion).toString().getBytes(StandardCharsets.UTF_8);
            } else {
                ByteBuffer buffer = ByteBuffer.wrap(data);
                Message message = read(name, readVersion, buffer);
                unread = buffer.remaining();
                written = write(message, writeVersion);
                json = json(message, writeVersion).toString().getBytes(StandardCharsets.UTF_8);
            }
        } catch (InvocationTargetException error) {
            refuse(out, unread, error.getCause());
            return;
        } catch (RuntimeException error) {
            refuse(out, unread, error);
            return;
        }
        out.writeInt(unread);
        out.writeByte(1);
        put(out, written);
        put(out, json);
    }

    private static void refuse(DataOutputStream out, int unread, Throwable error)
            throws IOException {
        out.writeInt(unread);
        out.writeByte(0);
        out.writeUTF(error.toString());
    }

    private static void put(DataOutputStream out, byte[] data) throws IOException {
        out.writeInt(data.length);
        out.write(data);
    }

    private static Message read(String name, short version, ByteBuffer buffer) throws Exception {
        Class<?> type = classOf(name);
        if (version < 0) {
            return (Message) type.getConstructor().newInstance();
        }
        return (Message) type.getConstructor(Readable.class, short.class)
            .newInstance(new ByteBufferAccessor(buffer), version);
    }

    private static byte[] write(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        if (buffer.hasRemaining()) {
            throw new IllegalStateException("the size did not match what was written");
        }
        return buffer.array();
    }

    private static JsonNode json(Message message, short version) throws Exception {
        Class<?> type = message.getClass();
        Method write = Class.forName(type.getName() + "JsonConverter")
            .getMethod("write", type, short.class, boolean.class);
        return (JsonNode) write.invoke(null, message, version, false);
    }

    private static String headerVersions(short key, short version) {
        ApiKeys api = ApiKeys.forId(key);
        return "[" + api.requestHeaderVersion(version) + "," + api.responseHeaderVersion(version) + "]";
    }

    private static Message errorResponse(ApiKeys api, short version, short code, byte[] data) {
        AbstractRequest request =
            AbstractRequest.parseRequest(api, version, ByteBuffer.wrap(data)).request;
        AbstractResponse response =
            request.getErrorResponse(0, Errors.forCode(code).exception("what failed"));
        if (response == null) {
            throw new IllegalArgumentException("never answered");
        }
        return response.data();
    }

    private static Class<?> classOf(String name) {
        return known.computeIfAbsent(name, MessageOracle::find);
    }

    private static Class<?> find(String name) {
        for (String pattern : CLASSES) {
            try {
                return Class.forName(String.format(pattern, name));
            } catch (ClassNotFoundException error) {
                continue;
            }
        }
        throw new IllegalArgumentException("no class for " + name);
    }
}
