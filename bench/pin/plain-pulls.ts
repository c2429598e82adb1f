// Runs on the node: pulls images with fixed concurrency and nothing else. The baseline: no checks, no sizes, no
// retries, no reports.
import { readFileSync } from 'node:fs';
import { Client, credentials } from '@grpc/grpc-js';

interface Order {
  readonly images: readonly string[];
  readonly atOnce: number;
  readonly username: string;
  readonly password: string;
}

const { images, atOnce, username, password } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Order;
const client = new Client('unix:///run/crio/crio.sock', credentials.createInsecure());

/** A protobuf field whose value is text or another message. */
function field(number: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  const head = [(number << 3) | 2];
  for (let rest = bytes.length; ; rest >>>= 7) {
    head.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) break;
  }
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** PullImageRequest of runtime.v1: the image's name in a nested message, and the login. */
const encodePullRequest = (image: string): Buffer =>
  Buffer.concat([field(1, field(1, image)), field(2, Buffer.concat([field(1, username), field(2, password)]))]);

const same = (bytes: Buffer): Buffer => bytes;

function pull(image: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  client.makeUnaryRequest('/runtime.v1.ImageService/PullImage', encodePullRequest, same, image, (error) =>
    error === null ? resolve() : reject(error),
  );
  return promise;
}

const rest = images.values();
const started = performance.now();
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (const image of rest) await pull(image);
  }),
);
console.log(JSON.stringify({ ms: performance.now() - started }));
client.close();
