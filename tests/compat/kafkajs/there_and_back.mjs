// A record there and back again: BROKER, TOPIC, what a bearer shows as TOKEN, and the file of an
// authority's certificate as CA where there is TLS. Prints the record's value.
import { readFileSync } from 'node:fs'
import { Kafka, logLevel } from 'kafkajs'

const { BROKER, TOPIC, TOKEN, CA } = process.env
const kafka = new Kafka({
  brokers: [BROKER],
  logLevel: logLevel.NOTHING,
  ssl: CA ? { ca: [readFileSync(CA, 'utf8')] } : false,
  sasl: { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: TOKEN }) },
})

const producer = kafka.producer()
await producer.connect()
await producer.send({ topic: TOPIC, messages: [{ value: 'kafkajs' }] })
await producer.disconnect()

const consumer = kafka.consumer({ groupId: `${TOPIC}-readers` })
await consumer.connect()
await consumer.subscribe({ topic: TOPIC, fromBeginning: true })
const value = await new Promise((resolve, reject) => {
  consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
  consumer.run({ eachMessage: async ({ message }) => resolve(message.value.toString()) })
})
await consumer.disconnect()
process.stdout.write(value)
