import { generateKeyPairSync, sign } from 'node:crypto';
import type { ClientCertificate } from '../client/credentials.ts';

const ed25519 = Buffer.from('300506032b6570', 'hex');
const commonName = Buffer.from('0603550403', 'hex');

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts);

const pem = (content: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${content.toString('base64').replace(/.{64}/g, '$&\n').trim()}\n-----END CERTIFICATE-----\n`;

/** A certificate that signs itself, with its key: new ones every time, so that no key stands in the repository. */
export function makeCertificate(name: string): ClientCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const subject = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from(name)))));
  const validity = sequence(der(0x17, Buffer.from('250101000000Z')), der(0x17, Buffer.from('491231235959Z')));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const toSign = sequence(der(0x02, Buffer.from([1])), ed25519, subject, validity, subject, spki);
  const signature = der(0x03, Buffer.from([0]), sign(null, toSign, privateKey));
  return {
    cert: pem(sequence(toSign, ed25519, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
}
