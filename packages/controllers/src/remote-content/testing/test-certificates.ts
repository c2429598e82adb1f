// Certificates for tests, made on the spot with nothing but node:crypto: an authority and a server certificate it signed.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface TestTls {
  /** PEM of the authority. */
  authority: string;
  /** PEM of the server's certificate and key. */
  certificate: string;
  key: string;
}

/** For the host names and the address 127.0.0.1. */
export function makeTestTls(hostnames: string[]): TestTls {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const names = hostnames.map((name) => der(0x82, Buffer.from(name)));
  const alternatives = sequence(...names, der(0x87, Buffer.from([127, 0, 0, 1])));
  return {
    authority: certify('Test Authority', authority.publicKey, authority.privateKey, [
      extension('551d13', sequence(der(0x01, Buffer.from([0xff]))), true), // basic constraints: an authority
    ]),
    certificate: certify('Test Server', server.publicKey, authority.privateKey, [extension('551d11', alternatives)]),
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
}

function certify(subject: string, subjectKey: KeyObject, issuerKey: KeyObject, extensions: Buffer[]): string {
  const algorithm = sequence(oid('2a8648ce3d040302')); // ECDSA with SHA-256
  const day = 24 * 60 * 60 * 1000;
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])), // serial number
    algorithm,
    commonName('Test Authority'),
    sequence(time(Date.now() - day), time(Date.now() + day)),
    commonName(subject),
    subjectKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', toBeSigned, issuerKey);
  const certificate = sequence(toBeSigned, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function commonName(name: string): Buffer {
  return sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value));
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return der(0x18, Buffer.from(digits));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
