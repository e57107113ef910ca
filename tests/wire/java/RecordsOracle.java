// Accepts or refuses a producer's records as Kafka's leader does, for test_records_against_java.py.
//
// stdin, repeated until it ends: int, count of cases; per case the Produce version (short),
// max.message.bytes (int), the id of compression.type's codec or -1 for producer (byte), whether the
// topic is compacted, whether it keeps append times (booleans), message.timestamp.before.max.ms and
// after.max.ms, the time of day and the log's end offset (longs), the leader epoch (int), and the
// records with their length (int).
// stdout, per case: the error code (short), what was said (UTF), the places of the records at fault
// and what was said of each (int, then int and UTF), what is appended with its length (int), and
// whether Kafka's own consumer can read that (boolean).

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.requests.ProduceResponse.RecordError;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.PrimitiveRef;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogValidator;
import org.apache.kafka.storage.internals.log.RecordValidationException;

public class RecordsOracle {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);

    static class Case {
        short version;
        int maxMessageBytes;
        byte codec;
        boolean compacted;
        boolean appendTime;
        long beforeMaxMs;
        long afterMaxMs;
        long nowMs;
        long endOffset;
        int leaderEpoch;
        byte[] records;
    }

    static class NoMetrics implements LogValidator.MetricsRecorder {
        public void recordInvalidMagic() { }
        public void recordInvalidOffset() { }
        public void recordInvalidSequence() { }
        public void recordInvalidChecksums() { }
        public void recordNoKeyCompactedTopic() { }
    }

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
                answer(read(in), new DataOutputStream(answers));
            }
            out.write(answers.toByteArray());
            out.flush();
        }
    }

    private static Case read(DataInputStream in) throws IOException {
        Case asked = new Case();
        asked.version = in.readShort();
        asked.maxMessageBytes = in.readInt();
        asked.codec = in.readByte();
        asked.compacted = in.readBoolean();
        asked.appendTime = in.readBoolean();
        asked.beforeMaxMs = in.readLong();
        asked.afterMaxMs = in.readLong();
        asked.nowMs = in.readLong();
        asked.endOffset = in.readLong();
        asked.leaderEpoch = in.readInt();
        asked.records = in.readNBytes(in.readInt());
        return asked;
    }

    private static void answer(Case asked, DataOutputStream out) throws IOException {
        MemoryRecords appended = MemoryRecords.EMPTY;
        Errors error = Errors.NONE;
        String said = "";
        List<RecordError> atFault = List.of();
        try {
            appended = append(asked);
        } catch (RecordValidationException refused) {
            error = Errors.forException(refused.invalidException());
            said = refused.invalidException().getMessage();
            atFault = refused.recordErrors();
        } catch (Throwable refused) {
            error = Errors.forException(refused);
            said = refused.toString();
        }
        out.writeShort(error.code());
        out.writeUTF(said);
        out.writeInt(atFault.size());
        for (RecordError each : atFault) {
            out.writeInt(each.batchIndex);
            out.writeUTF(each.message);
        }
        ByteBuffer buffer = appended.buffer();
        byte[] data = new byte[buffer.remaining()];
        buffer.get(data);
        out.writeInt(data.length);
        out.write(data);
        out.writeBoolean(isReadable(appended));
    }

    /** What UnifiedLog.append does before it writes: analyzeAndValidateRecords, then LogValidator. */
    private static MemoryRecords append(Case asked) {
        MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(asked.records));
        ProduceRequest.validateRecords(asked.version, records);
        int validBytes = 0;
        CompressionType source = CompressionType.NONE;
        for (MutableRecordBatch batch : records.batches()) {
            if (batch.magic() >= RecordBatch.MAGIC_VALUE_V2 && batch.baseOffset() != 0)
                throw new InvalidRecordException("base offset " + batch.baseOffset());
            if (batch.sizeInBytes() > asked.maxMessageBytes)
                throw new RecordTooLargeException(batch.sizeInBytes() + " bytes");
            if (!batch.isValid())
                throw new CorruptRecordException("stored crc = " + batch.checksum());
            validBytes += batch.sizeInBytes();
            if (batch.compressionType() != CompressionType.NONE)
                source = batch.compressionType();
        }
        if (validBytes == 0)
            return MemoryRecords.EMPTY;
        MemoryRecords valid = MemoryRecords.readableRecords(ByteBuffer.wrap(asked.records, 0, validBytes));
        CompressionType target = asked.codec < 0 ? source : CompressionType.forId(asked.codec);
        LogValidator validator = new LogValidator(valid, PARTITION, at(asked.nowMs), source,
            Compression.of(target).build(), asked.compacted, RecordBatch.MAGIC_VALUE_V2,
            asked.appendTime ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME,
            asked.beforeMaxMs, asked.afterMaxMs, asked.leaderEpoch, AppendOrigin.CLIENT,
            MetadataVersion.IBP_3_9_IV0);
        MemoryRecords made = validator.validateMessagesAndAssignOffsets(
            PrimitiveRef.ofLong(asked.endOffset), new NoMetrics(), BufferSupplier.NO_CACHING
        ).validatedRecords;
        for (MutableRecordBatch batch : made.batches()) {
            if (batch.sizeInBytes() > asked.maxMessageBytes)
                throw new RecordTooLargeException("made anew, " + batch.sizeInBytes() + " bytes");
        }
        return made;
    }

    private static boolean isReadable(MemoryRecords records) {
        try {
            for (Record each : records.records()) {
                each.ensureValid();
            }
            return true;
        } catch (RuntimeException damaged) {
            return false;
        }
    }

    private static Time at(long nowMs) {
        return new Time() {
            public long milliseconds() { return nowMs; }
            public long nanoseconds() { return 0; }
            public void sleep(long ms) { }
            public void waitObject(Object o, java.util.function.Supplier<Boolean> c, long d) { }
        };
    }
}
