// A Node service's test that loses a leader on purpose, by the control port of a cluster:
//
//     logquake up -d --control
//     eval "$(logquake env)"
//     npm install && node --test
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Kafka, logLevel } from 'kafkajs'

const TOPIC = 'orders-node'
const BATCH = 100
const PATIENCE_S = 120

const { BOOTSTRAP_SERVERS, LOGQUAKE_CONTROL_URL, LOGQUAKE_CONTROL_TOKEN } = process.env
const brokers = BOOTSTRAP_SERVERS.split(',')
const retry = { retries: 100, maxRetryTime: 1000 }
const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING, retry })

// All that is needed of the control port: one call with a document, one document back.
async function ask(method, path, sent = {}) {
  const body = method === 'GET' ? undefined : JSON.stringify(sent)
  const headers = { Authorization: `Bearer ${LOGQUAKE_CONTROL_TOKEN}` }
  const response = await fetch(LOGQUAKE_CONTROL_URL + path, { method, headers, body })
  const told = await response.json()
  assert.ok(response.ok, `${method} ${path}: ${told.error}`)
  return told
}

async function send(producer, from) {
  for (let number = from; number < from + BATCH; number++) {
    await producer.send({ topic: TOPIC, acks: -1, messages: [{ value: `order ${number}` }] })
  }
}

async function read(wanted) {
  const consumer = kafka.consumer({ groupId: 'audit-node' })
  const found = []
  await consumer.connect()
  try {
    await consumer.subscribe({ topic: TOPIC, fromBeginning: true })
    await new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`${found.length} orders came`)), PATIENCE_S * 1000).unref()
      consumer.run({
        eachMessage: async ({ message }) => {
          found.push(message.value.toString())
          if (new Set(found).size === wanted) resolve() // it may have sent one again
        },
      })
    })
  } finally {
    await consumer.disconnect()
  }
  return found
}

after(() => ask('DELETE', '/faults'))

test('nothing acked is lost with its leader', async () => {
  await ask('POST', '/do/create_topic', { name: TOPIC, partitions: 1 })
  const producer = kafka.producer()
  await producer.connect()

  await send(producer, 0)
  const killed = await ask('POST', '/do/kill', { target: `leader:${TOPIC}/0` })
  await send(producer, BATCH)
  await producer.disconnect()
  await ask('POST', '/wait/leader_change', {
    topic: TOPIC, partition: 0, since: killed.fault, timeout: PATIENCE_S,
  })
  await ask('DELETE', `/faults/${killed.fault}`) // the first group's topic wants three brokers

  const expected = Array.from({ length: 2 * BATCH }, (_, number) => `order ${number}`)
  assert.deepEqual([...new Set(await read(2 * BATCH))], expected)
})
