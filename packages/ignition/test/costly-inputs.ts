import type { Json } from './configs.ts';

/** Texts of up to a megabyte that are as expensive as possible; generated one at a time, because there are many. */
export function* costlyInputs(): Generator<string> {
  yield* costlyTexts();
  for (const config of costlyConfigs()) yield JSON.stringify(config);
}

const inConfig = (rest: string) => `{"ignition":{"version":"3.5.0"},${rest}}`;

/** Depth, width and repetition, for JSON readers. */
function* costlyTexts(): Generator<string> {
  yield '['.repeat(500_000);
  yield '{"a":'.repeat(200_000);
  yield `${'['.repeat(9_999)}${']'.repeat(9_999)}`;
  yield `"${'\\'.repeat(999_999)}"`;
  yield `"${'\\"'.repeat(400_000)}`;
  yield '1'.repeat(1_000_000);
  yield ' '.repeat(1_000_000);
  yield `{${'"a":1,'.repeat(150_000)}"b":1}`;
  yield `{${many(60_000, (n) => `"k${n}":1`).join(',')}}`;
  // Each number that is not an integer, and each duplicate key, has a path of ten thousand steps.
  yield `${'['.repeat(9_990)}${'1.5,'.repeat(20_000)}1${']'.repeat(9_990)}`;
  yield `${'{"a":'.repeat(9_990)}{${'"b":1,'.repeat(20_000)}"c":1}${'}'.repeat(9_990)}`;
  yield inConfig(`"x":[${'1.5,'.repeat(200_000)}1]`);
  yield inConfig(`"storage":{"files":[${'1,'.repeat(300_000)}1]}`);
  yield inConfig(`"storage":{"files":[${'{"mode":1.0},'.repeat(60_000)}{}]}`);
}

/** Inputs that invite quadratic work in validation. */
function* costlyConfigs(): Generator<Json> {
  for (const version of ['2.2.0', '2.4.0', '3.0.0', '3.2.0', '3.6.0']) {
    yield { ignition: { version }, storage: manyNodes() };
    yield { ignition: { version }, storage: { disks: [{ device: '/dev/sda', partitions: manyPartitions() }] } };
  }
  const deep = '/a'.repeat(2_000);
  yield storage({ links: many(200, (n) => ({ path: `${deep}/${n}`, target: deep })) });
  yield storage({ files: many(30_000, () => ({ path: '/same' })) });
  yield storage({
    files: ['/..'.repeat(200_000), '/'.repeat(400_000), `/${'a/../'.repeat(100_000)}`].map((path) => ({ path })),
  });
  yield config({
    kernelArguments: { shouldExist: many(80_000, (n) => `a${n % 3}`), shouldNotExist: many(10_000, String) },
  });
  yield config({ passwd: { users: many(20_000, (n) => ({ name: `u${n}`, sshAuthorizedKeys: ['a', 'a'] })) } });
  yield* costlyUnits();
  yield* costlySources();
  for (const advertisement of ['['.repeat(400_000), `${'['.repeat(9_000)}${']'.repeat(9_000)}`]) {
    const tang = [{ url: 'http://a', thumbprint: 'x', advertisement }];
    yield storage({ luks: [{ name: 'a', device: '/a', clevis: { tang } }] });
  }
}

function* costlyUnits(): Generator<Json> {
  const instances = many(6_000, (n) => ({ name: `a@${n}.service`, enabled: true }));
  yield units(...instances, { name: 'a@.service', contents: '[Unit]\nA=b\n'.repeat(5_000) });
  yield units({ name: `${'a@'.repeat(200_000)}.service`, enabled: true });
  for (const part of ['[', ']', '\\\n', '=', '\n', '[a]\n', '#\\\n', ' ', '\r', 'a=b\n']) {
    yield units({ name: 'a.service', contents: repeatTo(400_000, part) });
  }
}

const URL_PARTS = [
  'data:',
  'data:;',
  'data:;base64,',
  'http://',
  'http://a/%',
  'arn:aws:s3:::',
  's3://b/k?',
  '%',
  ':',
  '/',
  '\\',
  ';a=b',
  '[',
  'é',
];

function* costlySources(): Generator<Json> {
  for (const part of URL_PARTS) {
    yield source(repeatTo(400_000, part));
    yield source(`data:${repeatTo(300_000, part)},x`);
  }
  yield source(`data:;base64,${'A'.repeat(900_001)}`);
  yield source(`s3://b/k?${'versionId&'.repeat(80_000)}`);
}

const config = (rest: Json): Json => ({ ignition: { version: '3.5.0' }, ...rest });
const storage = (rest: Json): Json => config({ storage: rest });
const units = (...list: Json[]): Json => config({ systemd: { units: list } });
const source = (text: string): Json => storage({ files: [{ path: '/a', contents: { source: text } }] });

const manyNodes = (): Json => ({
  files: many(8_000, (n) => ({ filesystem: 'root', path: `/l${n}/f` })),
  links: many(8_000, (n) => ({ filesystem: 'root', path: `/l${n}`, target: '/x', hard: true })),
  directories: many(8_000, (n) => ({ filesystem: 'root', path: `/d${n}` })),
});

const manyPartitions = () =>
  many(12_000, (n) => ({ number: n + 1, startMiB: n * 10 + 1, sizeMiB: 5, start: n * 2048, size: 1 }));

const repeatTo = (length: number, part: string) => part.repeat(Math.ceil(length / part.length));

function many<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}
