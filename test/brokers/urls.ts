/** Where a broker is, by the variable that names it. */
export function brokerUrl(variable: 'RABBITMQ_URL' | 'NATS_URL' | 'REDIS_URL' | 'MQTT_URL'): string {
  const url = process.env[variable];
  if (url) return url;
  throw new Error(`${variable} is not set. Run these tests by \`npm run test:brokers -- <path>\`, which sets it.`);
}
