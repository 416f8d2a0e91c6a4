/** The brokers of the tests: the variable that names each, and where it is if that is not set. */
export const BROKERS = [
  { name: 'RabbitMQ', variable: 'RABBITMQ_URL', defaultUrl: 'amqp://127.0.0.1:5672' },
  { name: 'NATS', variable: 'NATS_URL', defaultUrl: 'nats://127.0.0.1:4222' },
  { name: 'Redis', variable: 'REDIS_URL', defaultUrl: 'redis://127.0.0.1:6379' },
  { name: 'MQTT broker', variable: 'MQTT_URL', defaultUrl: 'mqtt://127.0.0.1:1883' },
];
