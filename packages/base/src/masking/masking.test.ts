import { harmlessTexts } from '@slipway/testing/harmless-texts';
import { describeLeak, sampleSecrets } from '@slipway/testing/secret-samples';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HIDDEN, isSecretName, maskSecrets } from './index.ts';

const samples = sampleSecrets(200, 20);

/** The log of a program would turn the first word of a line into another word. */
const NEEDS_START_OF_LINE =
  /pgpass|Redis|LDAP|keepalived|SNMP|BIND|several lines|spaces|cookie|next line|block|wrapped|Secret in (?:YAML|a list|lines)/i;

describe('masking by content', () => {
  it.each(samples.slice(0, new Set(samples.map(({ kind }) => kind)).size))('hides a secret: $kind', (sample) => {
    const masked = maskSecrets(sample.text);
    expect(describeLeak(sample, masked)).toBe('');
    expect(masked).toContain(HIDDEN);
  });

  it('hides 200 secrets of any values, in one text and in lines of a diff or a log', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.constantFrom('', '+', '    ', '# ', 'Nov 18 15:00:00 node shop[1]: '),
        (seed, prefix) => {
          for (const sample of sampleSecrets(200, seed)) {
            if (prefix.endsWith(': ') && NEEDS_START_OF_LINE.test(sample.kind)) continue;
            const lines = sample.text.split('\n').map((line) => prefix + line);
            const masked = maskSecrets(lines.join('\n'));
            expect(describeLeak(sample, masked)).toBe('');
            expect(masked.split('\n').length).toBe(lines.length);
          }
        },
      ),
      { numRuns: 8 },
    );
  });

  it.each(harmlessTexts.map((text) => [text.split('\n')[0], text]))('shows what is harmless: %s', (_, text) => {
    expect(maskSecrets(text)).toBe(text);
  });

  it('has a hundred harmless contents to compare with', () => {
    expect(harmlessTexts.length).toBeGreaterThanOrEqual(100);
  });

  it('changes nothing that is masked already, and never the number of lines', () => {
    for (const { text } of samples) {
      const masked = maskSecrets(text);
      expect(maskSecrets(masked)).toBe(masked);
    }
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom(...samples.map(({ text }) => text)))), (texts) => {
        const text = texts.join('\n');
        expect(maskSecrets(text).split('\n').length).toBe(text.split('\n').length);
      }),
      { numRuns: 50 },
    );
  });

  it('hides a secret each time, also after thousands of harmless texts', () => {
    const secret = 'password: hunter2';
    const texts = Array.from({ length: 5000 }, (_, index) => `worker-${index} is updated`);
    const hidden = maskSecrets(secret);
    expect(hidden).not.toContain('hunter2');
    expect(maskSecrets(secret)).toBe(hidden);
    for (const text of [...texts, ...texts]) expect(maskSecrets(text)).toBe(text);
    expect(maskSecrets(secret)).toBe(hidden);
  });

  it('keeps JSON readable by programs', () => {
    for (const { text } of samples.filter(({ text }) => text.startsWith('{'))) {
      expect(() => JSON.parse(maskSecrets(text)) as unknown).not.toThrow();
    }
  });

  it('leaves what a reader needs: the name, the user, the host, the flags', () => {
    expect(maskSecrets('DB_PASSWORD=abc12')).toBe('DB_PASSWORD=(hidden)');
    expect(maskSecrets('http://shop:abc12@proxy:3128/')).toBe('http://shop:(hidden)@proxy:3128/');
    expect(maskSecrets('agent --token abc12 -v')).toBe('agent --token (hidden) -v');
    expect(maskSecrets('{"password":"abc12","port":1}')).toBe('{"password":"(hidden)","port":1}');
  });

  it.each([
    '=',
    '\n',
    '"password":"',
    'password: "\n',
    '--token\n',
    '-----BEGIN PRIVATE KEY-----\n',
    '-----BEGIN PRIVATE KEY----------END PRIVATE KEY-----',
    '-eyJ',
    'http://user:',
    'a:b@',
    'curl -u a:',
    'podman login ',
    'echo x ',
    'password is ',
    'htpasswd -b a ',
    'data:,',
    'kind: Secret\n',
    '"kind":"Secret","data":{',
    'a_token ',
    'PASSWORD:=',
    'A'.repeat(64).concat('\n'),
  ])('takes linear time on a megabyte of %j', (part) => {
    const measure = (length: number): number => {
      const text = part.repeat(Math.ceil(length / part.length));
      const before = process.cpuUsage();
      maskSecrets(text);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    // 32 times the text: linear time is 32 times as much, quadratic time is 1024 times. CPU time, whatever else runs.
    measure(32 * 1024);
    const small = Math.max(3000, measure(32 * 1024));
    expect(measure(1024 * 1024)).toBeLessThan(small * 32 * 8);
  });
});

describe('names of secrets', () => {
  it.each([
    'password',
    'DB_PASSWORD',
    'clientSecret',
    'spring.datasource.password',
    'api-key',
    'smtp.pass',
    'identitytoken',
  ])('%s', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each([
    'PasswordAuthentication',
    'PASS_MAX_DAYS',
    'secretName',
    'tokenizer',
    'bypass',
    'PWD',
    'publicKey',
    'keyfile',
  ])('not %s', (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});
