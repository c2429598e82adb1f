// Secrets in manifests, and compressed ones.
import { gzipSync } from 'node:zlib';
import { base64, type Draw, type Make, password, token, within } from './secret-draw.ts';

const pack = (text: string): string => gzipSync(text).toString('base64');
const env = (draw: Draw): string => `DB_HOST=db.example.com\nDB_PASSWORD=${draw.word(40)}\n`;

/** Both forms of the value of a key. */
const inSecret = (text: (value: string) => string): Make => within((draw) => base64(draw.word(18)), text);

export const kindsInManifests: Readonly<Record<string, Make>> = {
  'gzip in a data URL': (draw) => {
    const packed = pack(env(draw));
    return {
      text: `{"compression":"gzip","source":"data:;base64,${packed}"}\n`,
      secrets: [packed.slice(30, 60)],
    };
  },
  'gzip in base64': (draw) => {
    const packed = pack(env(draw));
    return { text: `payload: ${packed}\n`, secrets: [packed.slice(30, 60)] };
  },
  'gzip that unpacks to much more': (draw) => {
    const packed = pack(`${'#'.repeat(20_000)}\n${env(draw)}`);
    return { text: `payload: ${packed}\n`, secrets: [packed.slice(30, 60)] };
  },
  'data URL with a comma': password(
    (secret) => `source: "data:,mode%3Da,DB_PASSWORD%3D${encodeURIComponent(secret)}%0A"\n`,
  ),
  'data URL in base64 that is percent-encoded': (draw) => {
    const text = encodeURIComponent(base64(`${env(draw)}?>?>`));
    return { text: `source: data:text/plain;base64,${text}\n`, secrets: [text.slice(50, 80)] };
  },
  'Secret in YAML': inSecret((value) => `apiVersion: v1\nkind: Secret\ndata:\n  shop: ${value}\ntype: Opaque\n`),
  'Secret in YAML without base64': password(
    (secret) => `kind: Secret\nstringData:\n  shop: "${secret}"\n  port: "1"\n---\nkind: Pod\n`,
  ),
  'Secret in YAML with a block of lines': token(
    30,
    (secret) => `kind: Secret\nstringData:\n  shop.conf: |\n    one\n    ${secret}\nmetadata: {}\n`,
  ),
  'Secret in a list of YAML': inSecret((value) => `items:\n- kind: Secret\n  data:\n    shop: ${value}\n- kind: Pod\n`),
  'Secret in JSON': inSecret((value) =>
    JSON.stringify({ kind: 'Secret', data: { a: 'Zm9v', shop: value }, type: 'a' }),
  ),
  'Secret in lines of JSON': inSecret((value) => JSON.stringify({ kind: 'Secret', data: { shop: value } }, null, 2)),
  'Secret in an annotation': inSecret((value) => {
    const applied = JSON.stringify({ kind: 'Secret', data: { shop: value } });
    return JSON.stringify({
      metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': applied } },
    });
  }),
  'OpenSSH key without its lines': (draw) => {
    const body = Buffer.from(`openssh-key-v1\0${draw.word(200)}`).toString('base64');
    return { text: `key: ${body}\n`, secrets: [body.slice(60, 120)] };
  },
  'static key of OpenVPN': within(
    (draw) => draw.hex(32),
    (secret) => {
      const label = 'OpenVPN Static key V1';
      return `<tls-crypt>\n-----BEGIN ${label}-----\n${secret}\n-----END ${label}-----\n</tls-crypt>\n`;
    },
  ),
  'JSON Web Key': within(
    (draw) => draw.word(43),
    (secret) =>
      JSON.stringify({ kty: 'EC', crv: 'P-256', x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU', d: secret }),
  ),
  'key of Consul': within(
    (draw) => draw.base64(32),
    (secret) => `datacenter = "a"\nencrypt = "${secret}"\n`,
  ),
  'key of Ceph': within(
    (draw) => `AQ${draw.word(36)}==`,
    (secret) => `[client.admin]\n\tkey = ${secret}\n`,
  ),
  'ID and key of AWS for s3fs': within(
    (draw) => draw.base64(30),
    (secret, draw) => `AKIA${draw.upper(16)}:${secret}\n`,
  ),
  'bot of Telegram in an address': within(
    (draw) => `AA${draw.word(33)}`,
    (secret, draw) => `url: https://api.telegram.org/bot1${draw.digits(8)}:${secret}/sendMessage\n`,
  ),
  'join token of k3s': within(
    (draw) => `K10${draw.hex(64)}::server:${draw.hex(32)}`,
    (secret) => `joined with ${secret}\n`,
  ),
};
